import { pkrNumber } from '@gatehouse/contract';
import type { Hours } from '../figures/rules.ts';
import type { SpendGroup } from './telemetry.ts';

const HOUR = 3_600;
/** If more of the hours than this are read from rows, all of them may as well be. */
const MAX_SPLIT_SHARE = 0.25;

/**
 * The hours in which a bucket begins, but not at their start: their rows belong to two buckets. Undefined where they are so
 * many that the rollup does not help.
 */
export function splitHours(
  { fromSeconds, toSeconds }: Hours,
  starts: readonly number[],
): number[] | undefined {
  const inside = starts.filter((start) => start % HOUR !== 0 && start > fromSeconds && start < toSeconds);
  const split = [...new Set(inside.map((start) => Math.floor(start / HOUR) * HOUR))];
  return split.length > ((toSeconds - fromSeconds) / HOUR) * MAX_SPLIT_SHARE ? undefined : split;
}

/** The costs of the window, of the listed groups and of the rest, bucket by bucket. */
export interface SpendFigures {
  readonly total: Costs;
  readonly groups: readonly (Costs & { readonly label: string | null })[];
  readonly other: (Costs & { readonly groups: number }) | null;
}

interface Costs {
  readonly cost_pkr: number;
  readonly costs_pkr: number[];
}

/** The total is the sum of all groups, so they cannot disagree. */
export function spendFigures(
  found: readonly SpendGroup[],
  starts: readonly number[],
  limit: number,
): SpendFigures {
  const nthOf = new Map(starts.map((start, nth) => [String(start), nth]));
  const all = starts.map(() => 0n);
  const costsOf = ([, , , at, costs]: SpendGroup): Costs => {
    const amounts = starts.map(() => 0n);
    for (const [index, start] of at.entries()) {
      const nth = nthOf.get(start);
      if (nth === undefined) throw new Error(`a cost at ${start}, where no bucket begins`);
      const amount = BigInt(costs[index] ?? 0);
      amounts[nth] = (amounts[nth] ?? 0n) + amount;
      all[nth] = (all[nth] ?? 0n) + amount;
    }
    return inPkr(amounts);
  };
  const groups = found.flatMap((group) => (group[0] > limit ? [] : [{ label: group[1], ...costsOf(group) }]));
  const rest = found.find(([place]) => place > limit);
  const other = rest ? { groups: Number(rest[2]), ...costsOf(rest) } : null;
  return { total: inPkr(all), groups, other };
}

function inPkr(amounts: readonly bigint[]): Costs {
  const sum = amounts.reduce((total, amount) => total + amount, 0n);
  return { cost_pkr: pkrNumber(sum), costs_pkr: amounts.map(pkrNumber) };
}
