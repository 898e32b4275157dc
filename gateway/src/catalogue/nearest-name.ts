import { editsBetween } from '@gatehouse/contract/edits-between';

const MAX_EDITS = 3;

/**
 * The name that a caller probably meant: the one that the fewest edits lead to, up to three and up to a third of its
 * length, where the provider's part before the slash may be missing or another. Undefined where none is near.
 */
export function nearestName(given: string, names: Iterable<string>): string | undefined {
  if (given === '') return undefined;
  const sought = comparable(given);
  const most = Math.min(MAX_EDITS, Math.floor(sought.length / 3));
  const model = withoutProvider(sought);
  let nearest: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const name of names) {
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
