import assert from 'node:assert/strict';

// What many clients were told about the keys of one organisation, held against the one order in which it happened.
//
// Every success has left an entry in the activity log, and the entries are numbered, so the order of the changes is
// known and need not be guessed. Replayed in that order, each of them must have been allowed. A refusal left nothing
// behind; it is justified when at some moment between its question and its answer the keys were such that it had to
// be refused, with just the figures that it named.

/** One request and its answer. */
export interface Call {
  /** Its place in the activity log is found by this. */
  readonly number: number;
  readonly kind: 'mint' | 'update' | 'revoke';
  /** The key's prefix: the one it named, or the one it was given. Empty for a mint that was refused. */
  readonly prefix: string;
  /** The limit that it asked for. */
  readonly limitMicroPkr: bigint | null;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly status: number;
  /** The sentence of a refusal. */
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

/** The limits of the keys that are not revoked, after so many changes. */
interface Moment {
  readonly limits: ReadonlyMap<string, bigint | null>;
  readonly sum: bigint;
}

export interface Verdict {
  readonly changes: number;
  readonly refusals: number;
  /** How many refusals were by the budget. */
  readonly byBudget: number;
}

/** Throws at the first answer that no order of the changes explains. */
export function checkHistory(
  calls: readonly Call[],
  entries: readonly Entry[],
  budgetMicroPkr: bigint,
): Verdict {
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

/** The successes in the order of their entries: one entry for each, none besides, and none before its time. */
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

/** The budget and what the other keys take of it, in micro-PKR, as the sentence says. */
function figures(error: string): (bigint | undefined)[] {
  const match = /budget is (\d+)\.(\d{2,6}) PKR, and .* take (\d+)\.(\d{2,6}) PKR\.$/.exec(error);
  const amount = (whole = '', fraction = '') => BigInt(whole + fraction.padEnd(6, '0'));
  return match ? [amount(match[1], match[2]), amount(match[3], match[4])] : [];
}
