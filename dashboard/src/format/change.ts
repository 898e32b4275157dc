import { percent } from './number.ts';

/** The meaning of a change: which direction is better. Traffic is neither. */
export type Direction = 'more-is-better' | 'less-is-better' | 'neither';

export interface Change {
  /** `12 %`, without a sign. */
  readonly text: string;
  readonly trend: 'up' | 'down' | 'same';
  readonly tone: 'good' | 'bad' | 'neutral';
  /** For screen readers and the tooltip. */
  readonly sentence: string;
}

/** Below this share a change is called none. */
const NOTICEABLE = 0.0005;

/**
 * A figure against the same figure of the window before. Undefined where there is nothing to compare with: a figure that is
 * unknown, or a window before without traffic.
 */
export function change(now: number | null, before: number | null, direction: Direction): Change | undefined {
  if (now === null || before === null || before === 0) return undefined;
  const share = (now - before) / Math.abs(before);
  if (Math.abs(share) < NOTICEABLE)
    return { text: '0 %', trend: 'same', tone: 'neutral', sentence: 'The same as in the window before' };
  const trend = share > 0 ? 'up' : 'down';
  const isBetter = share > 0 === (direction === 'more-is-better');
  const text =
    Math.abs(share) >= 10 ? `${Math.round(Math.abs(share) + 1)}×` : percent(roundedShare(Math.abs(share)));
  return {
    text,
    trend,
    tone: direction === 'neither' ? 'neutral' : isBetter ? 'good' : 'bad',
    sentence:
      Math.abs(share) >= 10
        ? `${text} the window before`
        : `${text} ${share > 0 ? 'more' : 'less'} than in the window before`,
  };
}

/** Three digits are more than anyone compares. */
function roundedShare(share: number): number {
  return share >= 0.1 ? Math.round(share * 100) / 100 : Math.round(share * 1000) / 1000;
}
