// A longer name is not a misspelt route, and costs more to compare.
const MAX_NAME_LENGTH = 100;
const MAX_EDITS = 3;

/**
 * The name that a caller probably meant: the one that the fewest edits lead to, up to three and up to a third of its
 * length, where the provider's part before the slash may be missing or another. Undefined where none is near.
 */
export function nearestName(given: string, names: Iterable<string>): string | undefined {
  if (given === '' || given.length > MAX_NAME_LENGTH) return undefined;
  const sought = comparable(given);
  const most = Math.min(MAX_EDITS, Math.floor(sought.length / 3));
  const model = withoutProvider(sought);
  let nearest: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const name of names) {
    if (name.length > MAX_NAME_LENGTH) continue;
    const whole = comparable(name);
    // Of two names that are equally near, the one that is near as a whole.
    const distance = Math.min(
      2 * editsBetween(sought, whole, Math.min(most, Math.ceil(least / 2) - 1)),
      2 * editsBetween(model, withoutProvider(whole), Math.min(most, Math.ceil((least - 1) / 2) - 1)) + 1,
    );
    if (distance >= least) continue;
    least = distance;
    nearest = name;
    if (least === 0) break;
  }
  return nearest;
}

function comparable(name: string): string {
  return name.trim().toLowerCase();
}

function withoutProvider(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}

// One row of the comparison each. Rows are reused, since a thousand names are compared on the thread of all requests.
let previous = new Uint8Array(MAX_NAME_LENGTH + 1);
let current = new Uint8Array(MAX_NAME_LENGTH + 1);

/** The edits (a character added, removed or replaced) from one text to the other; infinite where they are more than `most`. */
function editsBetween(from: string, to: string, most: number): number {
  if (most < 0 || Math.abs(from.length - to.length) > most) return Number.POSITIVE_INFINITY;
  const tooMany = most + 1;
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
      const replaced = cell(previous, column - 1) + (character === to.charCodeAt(column - 1) ? 0 : 1);
      const removed = column > row - 1 + most ? tooMany : cell(previous, column) + 1;
      left = Math.min(replaced, left + 1, removed, tooMany);
      current[column] = left;
      if (left < least) least = left;
    }
    if (least > most) return Number.POSITIVE_INFINITY;
    [previous, current] = [current, previous];
  }
  const edits = cell(previous, to.length);
  return edits > most ? Number.POSITIVE_INFINITY : edits;
}

function cell(row: Uint8Array, column: number): number {
  return row[column] as number;
}
