/** A figure at a moment. */
export interface Point {
  /** Since the start of the soak. */
  readonly seconds: number;
  readonly value: number;
}

/** From and up to, as shares of the whole time. */
export type Window = readonly [from: number, to: number];

// Parts of an hour: minutes 10 to 20, 20 to 50 and 50 to 60.
export const EARLY: Window = [1 / 6, 2 / 6];
export const MIDDLE: Window = [2 / 6, 5 / 6];
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

/** How the median of the last window compares with that of an early one. A single sample that was taken before or after a
 *  garbage collection moves neither. */
export function growthOf(points: readonly Point[], totalSeconds: number): Growth {
  return growth(median(valuesIn(points, totalSeconds, EARLY)), median(valuesIn(points, totalSeconds, LATE)));
}

/** The same of the highest values, for what grows until something is removed, again and again. The last window is compared with
 *  all between it and the beginning, so that it does not matter where in its period each is. */
export function peakGrowthOf(points: readonly Point[], totalSeconds: number): Growth {
  const highest = (window: Window) => Math.max(...valuesIn(points, totalSeconds, window));
  return growth(highest(MIDDLE), highest(LATE));
}

function growth(before: number, after: number): Growth {
  const share = before === 0 ? (after === 0 ? 0 : Number.POSITIVE_INFINITY) : after / before - 1;
  return { before, after, share };
}
