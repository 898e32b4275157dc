import { pkrNumber } from '@gatehouse/contract';
import type { FoundGroup } from './telemetry.ts';

/** With more groups than this a query for all of them at once ends early, and its result is incomplete. */
export const MAX_GROUPS_AT_ONCE = 256;

interface Figures {
  readonly requests: number;
  readonly errors: number;
  readonly tokens: number;
  readonly cost_pkr: number;
  readonly total_ms: Quantiles;
  readonly ttft_ms: Quantiles;
}

export interface Quantiles {
  readonly p50: number | null;
  readonly p95: number | null;
}

export interface BreakdownFigures {
  readonly total: Figures;
  readonly groups: readonly (Figures & { readonly label: string | null })[];
  readonly other: (Figures & { readonly groups: number }) | null;
}

export const UNKNOWN: Quantiles = { p50: null, p95: null };
const NOTHING: Figures = {
  requests: 0,
  errors: 0,
  tokens: 0,
  cost_pkr: 0,
  total_ms: UNKNOWN,
  ttft_ms: UNKNOWN,
};

/** True if a query for all groups at once found more of them than it may keep. */
export function isIncomplete(found: readonly FoundGroup[]): boolean {
  return found.some(([, , groups]) => Number(groups) > MAX_GROUPS_AT_ONCE);
}

/** The figures of all, of the listed groups and of the rest, as the API has them. */
export function breakdownFigures(found: readonly FoundGroup[], limit: number): BreakdownFigures {
  const all = found.find(([place]) => place === 0);
  const rest = found.find(([place]) => place > limit);
  return {
    total: all ? figuresOf(all) : NOTHING,
    groups: found.flatMap((group) =>
      group[0] === 0 || group[0] > limit ? [] : [{ label: group[1], ...figuresOf(group) }],
    ),
    other: rest ? { groups: Number(rest[2]), ...figuresOf(rest) } : null,
  };
}

function figuresOf([, , , requests, errors, tokens, cost, firsts, totals, firstTokens]: FoundGroup): Figures {
  return {
    requests: Number(requests),
    errors: Number(errors),
    tokens: Number(tokens),
    cost_pkr: pkrNumber(BigInt(cost)),
    total_ms: quantiles(totals),
    ttft_ms: firsts === '0' ? UNKNOWN : quantiles(firstTokens),
  };
}

/** Quantiles of times, given as the bits of 32-bit floats of microseconds. */
export function quantiles([p50, p95]: readonly number[]): Quantiles {
  return { p50: millisecondsOf(p50), p95: millisecondsOf(p95) };
}

const bits = new DataView(new ArrayBuffer(4));

/** The milliseconds of a 32-bit float of microseconds, given as its bits. */
function millisecondsOf(float: number | undefined): number | null {
  if (float === undefined) return null;
  bits.setUint32(0, float);
  return bits.getFloat32(0) / 1000;
}
