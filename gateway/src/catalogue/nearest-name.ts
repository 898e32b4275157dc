// A longer name is no typing error of a route's, and costs more to compare.
const LONGEST_NAME = 100;
const MOST_EDITS = 3;

/**
 * The name that a caller probably meant: the one that the fewest edits lead to, up to three and up to a third of its
 * length, where the provider's part before the slash may be missing or another. Undefined where none is near.
 */
export function nearestName(given: string, names: Iterable<string>): string | undefined {
  if (given === '' || given.length > LONGEST_NAME) return undefined;
  const sought = comparable(given);
  const most = Math.min(MOST_EDITS, Math.floor(sought.length / 3));
  let nearest: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const name of names) {
    if (name.length > LONGEST_NAME) continue;
    const whole = comparable(name);
    // Of two names that are equally near, the one that is near as a whole.
    const distance = Math.min(
      2 * editsBetween(sought, whole, most),
      2 * editsBetween(withoutProvider(sought), withoutProvider(whole), most) + 1,
    );
    if (distance >= least) continue;
    least = distance;
    nearest = name;
  }
  return nearest;
}

function comparable(name: string): string {
  return name.trim().toLowerCase();
}

function withoutProvider(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}

/** The edits (a character added, removed or replaced) from one text to the other; infinite where they are more than `most`. */
function editsBetween(from: string, to: string, most: number): number {
  if (Math.abs(from.length - to.length) > most) return Number.POSITIVE_INFINITY;
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    // Only cells this near to the diagonal can be within `most`.
    const first = Math.max(1, row - most);
    const last = Math.min(to.length, row + most);
    const current: number[] = [];
    current[first - 1] = first === 1 ? row : Number.POSITIVE_INFINITY;
    let least = Number.POSITIVE_INFINITY;
    for (let column = first; column <= last; column += 1) {
      const replaced =
        (previous[column - 1] ?? Number.POSITIVE_INFINITY) + (from[row - 1] === to[column - 1] ? 0 : 1);
      const added = (current[column - 1] ?? Number.POSITIVE_INFINITY) + 1;
      const removed = (previous[column] ?? Number.POSITIVE_INFINITY) + 1;
      const edits = Math.min(replaced, added, removed);
      current[column] = edits;
      least = Math.min(least, edits);
    }
    if (least > most && (current[first - 1] ?? 0) > most) return Number.POSITIVE_INFINITY;
    previous = current;
  }
  const edits = previous[to.length] ?? Number.POSITIVE_INFINITY;
  return edits > most ? Number.POSITIVE_INFINITY : edits;
}
