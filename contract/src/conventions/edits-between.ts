/** Longer texts are not compared: what was meant by them is not guessed. */
export const MAX_COMPARED_LENGTH = 100;

// Three rows of the comparison. They are reused, since a gateway compares a thousand names on the thread of all requests.
let beforePrevious = new Uint8Array(MAX_COMPARED_LENGTH + 1);
let previous = new Uint8Array(MAX_COMPARED_LENGTH + 1);
let current = new Uint8Array(MAX_COMPARED_LENGTH + 1);

/**
 * The edits from one text to the other: a character added, removed, replaced, or swapped with its neighbour (optimal string alignment).
 * Infinite where they are more than `most`, or where a text has more than MAX_COMPARED_LENGTH characters.
 */
export function editsBetween(from: string, to: string, most: number): number {
  const isPossible = most >= 0 && Math.abs(from.length - to.length) <= most;
  if (!isPossible || from.length > MAX_COMPARED_LENGTH || to.length > MAX_COMPARED_LENGTH)
    return Number.POSITIVE_INFINITY;
  const tooMany = most + 1;
  let leastBefore = 0;
  for (let column = 0; column <= to.length; column += 1) previous[column] = Math.min(column, tooMany);
  for (let row = 1; row <= from.length; row += 1) {
    const character = from.charCodeAt(row - 1);
    // Only cells this near to the diagonal can be within `most`; those beside them count as too many.
    const first = Math.max(1, row - most);
    const last = Math.min(to.length, row + most);
    let left = first === 1 ? Math.min(row, tooMany) : tooMany;
    current[first - 1] = left;
    let least = left;
    for (let column = first; column <= last; column += 1) {
      const other = to.charCodeAt(column - 1);
      const replaced = cell(previous, column - 1) + (character === other ? 0 : 1);
      const removed = column > row - 1 + most ? tooMany : cell(previous, column) + 1;
      const isSwapped =
        row > 1 &&
        column > 1 &&
        character === to.charCodeAt(column - 2) &&
        from.charCodeAt(row - 2) === other;
      const swapped = isSwapped ? cell(beforePrevious, column - 2) + 1 : tooMany;
      left = Math.min(replaced, left + 1, removed, swapped, tooMany);
      current[column] = left;
      if (left < least) least = left;
    }
    // A swap goes on from the row before.
    if (least > most && leastBefore >= most) return Number.POSITIVE_INFINITY;
    leastBefore = least;
    [beforePrevious, previous, current] = [previous, current, beforePrevious];
  }
  const edits = cell(previous, to.length);
  return edits > most ? Number.POSITIVE_INFINITY : edits;
}

function cell(row: Uint8Array, column: number): number {
  return row[column] as number;
}
