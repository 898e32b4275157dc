/** A figure at a moment. */
export interface Point {
  /** Since the start of the soak. */
  readonly seconds: number;
  readonly value: number;
}

/** From and up to, as shares of the whole time. */
export type Window = readonly [from: number, to: number];

// Of an hour: minutes 10 to 20, 20 to 30 and 50 to 60.
export const EARLY: Window = [1 / 6, 2 / 6];
export const MIDDLE: Window = [2 / 6, 3 / 6];
export const LATE: Window = [5 / 6, 1];

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  if (sorted.length === 0) return Number.NaN;
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

export function valuesIn(points: readonly Point[], totalSeconds: number, [from, to]: Window): number[] {
  return points
    .filter(({ seconds }) => seconds >= from * totalSeconds && seconds <= to * totalSeconds)
    .map(({ value }) => value);
}

export interface Growth {
  readonly before: number;
  readonly after: number;
  /** 0.05 is five percent. */
  readonly share: number;
}

/** How the median of the last window compares with that of an earlier one. A single sample that was taken before or after a
 *  garbage collection moves neither. */
export function growthOf(points: readonly Point[], totalSeconds: number, from: Window = EARLY): Growth {
  const before = median(valuesIn(points, totalSeconds, from));
  const after = median(valuesIn(points, totalSeconds, LATE));
  return {
    before,
    after,
    share: before === 0 ? (after === 0 ? 0 : Number.POSITIVE_INFINITY) : after / before - 1,
  };
}
