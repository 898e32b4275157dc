import assert from 'node:assert/strict';

// Checks the answers that many clients got for the keys of one organisation against the serial order of the changes.
//
// Every successful change has a numbered entry in the activity log, so the order of the changes is
// known. Replayed in that order, each of them must have been allowed. A refusal leaves no entry;
// it is justified when at some moment between its request and its answer the state of the keys required
// the refusal, with exactly the figures that it named.

/** One request and its answer. */
export interface Call {
  /** Identifies its entry in the activity log. */
  readonly number: number;
  readonly kind: 'mint' | 'update' | 'revoke';
  /** The prefix that it named or was given. Empty for a refused mint. */
  readonly prefix: string;
  /** The requested limit. */
  readonly limitMicroPkr: bigint | null;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly status: number;
  /** The error of a refusal. */
  readonly error: string;
}

/** An entry of the activity log, in the log's order. */
export interface Entry {
  readonly number: number;
  readonly action: string;
  readonly target: string;
}

const ACTIONS = { mint: 'api_key.created', update: 'api_key.updated', revoke: 'api_key.revoked' } as const;
const SUCCESS = { mint: 201, update: 200, revoke: 200 } as const;

/** The limits of all live keys after a number of changes. */
interface Moment {
  readonly limits: ReadonlyMap<string, bigint | null>;
  readonly sum: bigint;
}

export interface CheckedHistory {
  readonly changes: number;
  readonly refusals: number;
  /** The number of refusals by the budget. */
  readonly byBudget: number;
}

/** Throws at the first answer that the order of the changes does not explain. */
export function checkHistory(
  calls: readonly Call[],
  entries: readonly Entry[],
  budgetMicroPkr: bigint,
): CheckedHistory {
  for (const call of calls)
    assert.ok(call.status < 500, `${call.kind} ${call.number} answered ${call.status}: ${call.error}`);
  const order = inOrderOfTheLog(calls, entries);
  const moments = replay(order, budgetMicroPkr);
  let byBudget = 0;
  const refusals = calls.filter((call) => call.status !== SUCCESS[call.kind]);
  for (const call of refusals) {
    const [first, last] = momentsOf(call, order);
    const possible = moments.slice(first, last + 1);
    assert.ok(
      possible.some((moment) => isJustified(call, moment, budgetMicroPkr)),
      `nothing between its question and its answer justifies ${call.kind} ${call.number} of ${call.prefix}: ${call.status} ${call.error}`,
    );
    if (call.status === 400) byBudget += 1;
  }
  return { changes: order.length, refusals: refusals.length, byBudget };
}

/** The successes in the order of their entries: exactly one entry for each, none before its request. */
function inOrderOfTheLog(calls: readonly Call[], entries: readonly Entry[]): Call[] {
  const byNumber = new Map(calls.map((call) => [call.number, call]));
  let latestStart = Number.NEGATIVE_INFINITY;
  const order = entries.map(({ number, action, target }) => {
    const call = byNumber.get(number);
    assert.ok(call, `entry ${action} ${target} belongs to no request`);
    assert.equal(call.status, SUCCESS[call.kind], `request ${number} was refused and has an entry`);
    assert.deepEqual([action, target], [ACTIONS[call.kind], call.prefix], `the entry of request ${number}`);
    byNumber.delete(number);
    assert.ok(
      call.endedAt >= latestStart,
      `request ${number} is in the log after one that began when it was over`,
    );
    latestStart = Math.max(latestStart, call.startedAt);
    return call;
  });
  for (const call of byNumber.values())
    assert.notEqual(call.status, SUCCESS[call.kind], `request ${call.number} succeeded and has no entry`);
  return order;
}

function replay(order: readonly Call[], budgetMicroPkr: bigint): Moment[] {
  let limits = new Map<string, bigint | null>();
  const moments: Moment[] = [{ limits, sum: 0n }];
  for (const { kind, number, prefix, limitMicroPkr } of order) {
    assert.equal(limits.has(prefix), kind !== 'mint', `${kind} ${number} of ${prefix} out of turn`);
    limits = new Map(limits);
    if (kind === 'revoke') limits.delete(prefix);
    else limits.set(prefix, limitMicroPkr);
    const sum = [...limits.values()].reduce((total: bigint, limit) => total + (limit ?? 0n), 0n);
    if (kind === 'update' && limitMicroPkr !== null)
      assert.ok(sum <= budgetMicroPkr, `update ${number} left limits of ${sum}, more than ${budgetMicroPkr}`);
    moments.push({ limits, sum });
  }
  return moments;
}

/** The first and the last moment at which the answer can have been decided. */
function momentsOf(call: Call, order: readonly Call[]): [number, number] {
  const first = order.findLastIndex(({ endedAt }) => endedAt < call.startedAt) + 1;
  const after = order.findIndex(({ startedAt }) => startedAt > call.endedAt);
  return [first, after < 0 ? order.length : after];
}

function isJustified(call: Call, { limits, sum }: Moment, budgetMicroPkr: bigint): boolean {
  if (call.status === 404) return !limits.has(call.prefix);
  if (call.status !== 400 || call.kind !== 'update' || call.limitMicroPkr === null) return false;
  const own = limits.get(call.prefix);
  if (own === undefined) return false;
  const others = sum - (own ?? 0n);
  const [budget, named] = figures(call.error);
  return budget === budgetMicroPkr && named === others && others + call.limitMicroPkr > budgetMicroPkr;
}

/** The budget and the other keys' share of it, in micro-PKR, as the error states them. */
function figures(error: string): (bigint | undefined)[] {
  const match = /budget is (\d+)\.(\d{2,6}) PKR, and .* take (\d+)\.(\d{2,6}) PKR\.$/.exec(error);
  const amount = (whole = '', fraction = '') => BigInt(whole + fraction.padEnd(6, '0'));
  return match ? [amount(match[1], match[2]), amount(match[3], match[4])] : [];
}
