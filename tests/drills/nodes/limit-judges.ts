import assert from 'node:assert/strict';
import type { ModelRequest } from './requests.ts';

// The promises about limits of a key, judged by what callers saw and what the ledger has. Each function
// throws if its promise was broken.

type Seen = Pick<ModelRequest, 'sentAt' | 'endedAt' | 'outcome' | 'status'>;

/** A request that begins after the answer to the revocation is not served. Returns how many were refused with 401. */
export function judgeRevocation(requests: readonly Seen[], revokedAt: number): number {
  const later = requests.filter(({ sentAt }) => sentAt >= revokedAt);
  const served = later.filter(({ outcome }) => outcome === 'served');
  assert.equal(
    served.length,
    0,
    `${served.length} requests began after the revocation was acknowledged, and were served`,
  );
  return later.filter(({ status }) => status === 401).length;
}

/** Returns the most that were served within a window, wherever it begins. */
export function judgeRate(requests: readonly Seen[], limit: number, windowMs: number): number {
  const served = requests.filter(({ outcome }) => outcome === 'served');
  // A request counts at some moment between its start and its answer. Requests entirely within a window count in it.
  const inWindow = served.map(
    ({ sentAt }) => served.filter((one) => one.sentAt >= sentAt && one.endedAt < sentAt + windowMs).length,
  );
  const most = Math.max(0, ...inWindow);
  assert.ok(most <= limit, `${most} were served within ${windowMs / 1_000} s, and ${limit} are allowed`);
  return most;
}

export interface Spending {
  readonly spent: bigint;
  readonly held: bigint;
}

/** `worth` is how many requests the limit covers; undefined where their costs are not known in advance. */
export function judgeSpending(
  money: Spending | undefined,
  limit: bigint,
  { served, worth }: { readonly served: number; readonly worth?: number },
): void {
  if (worth !== undefined) assert.ok(served <= worth, `${served} were served, and the limit covers ${worth}`);
  assert.ok(money, 'the ledger does not know the account');
  const taken = money.spent + money.held;
  assert.ok(taken <= limit, `past the limit: ${money.spent} spent and ${money.held} held of ${limit}`);
}

export interface Headroom {
  /** The greatest sum of the limits that was ever committed. */
  readonly most: bigint;
  readonly budget: bigint;
  /** How often the sum was taken: after each change. */
  readonly noted: bigint;
  /** Entries of the activity log. */
  readonly entries: bigint;
  /** Changes that were acknowledged, and those without an answer, which were done or not. */
  readonly accepted: number;
  readonly unknown: number;
}

export function judgeHeadroom({ most, budget, noted, entries, accepted, unknown }: Headroom): void {
  assert.ok(noted >= BigInt(accepted), `${accepted} were acknowledged, and ${noted} sums were taken`);
  assert.ok(most <= budget, `the limits were ${most} together, and the budget is ${budget}`);
  assert.ok(entries >= BigInt(accepted), `${accepted} were acknowledged, and ${entries} are in the log`);
  assert.ok(
    entries <= BigInt(accepted + unknown),
    `${entries} entries of ${accepted} changes and ${unknown} without an answer`,
  );
}
