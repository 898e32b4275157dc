import type { DemoBudget, DemoOrganization } from '@gatehouse/control-plane';
import { KEYS } from './plan.ts';

const PKR = 1_000_000n;
const MIN_MICRO_PKR = 1_000n * PKR;
const PARTS = [
  { percent: 40n, note: 'opening balance' },
  { percent: 35n, note: 'invoice 1043' },
  { percent: 25n, note: 'invoice 1057' },
];

/** Deposits of 1.5 times the spend, and the limits of the plan. */
export function budgetOf(
  { keys }: Pick<DemoOrganization, 'keys'>,
  spent: ReadonlyMap<string, bigint>,
): DemoBudget {
  const limits = KEYS.flatMap(({ limit }, place) => {
    const keyId = keys[place]?.id;
    const ofKey = (keyId && spent.get(keyId)) ?? 0n;
    // A key without spend gets no limit.
    if (!keyId || limit === undefined || ofKey === 0n) return [];
    const creditLimitMicroPkr =
      limit === 1 ? ofKey : roundedUp((ofKey * BigInt(Math.round(limit * 100))) / 100n);
    return { keyId, creditLimitMicroPkr };
  });
  const inAll = [...spent.values()].reduce((sum, one) => sum + one, 0n);
  const ofLimits = limits.reduce((sum, one) => sum + one.creditLimitMicroPkr, 0n);
  const wanted = [(inAll * 3n) / 2n, ofLimits, MIN_MICRO_PKR].reduce((a, b) => (a > b ? a : b));
  return {
    deposits: PARTS.map(({ percent, note }) => ({
      amountMicroPkr: roundedUp((wanted * percent) / 100n),
      note,
    })),
    limits,
    revokedKeyIds: KEYS.flatMap(({ isRevoked }, place) => (isRevoked ? (keys[place]?.id ?? []) : [])),
  };
}

/** Rounded up to 100 PKR. */
function roundedUp(microPkr: bigint): bigint {
  const step = 100n * PKR;
  return ((microPkr + step - 1n) / step) * step;
}
