import assert from 'node:assert/strict';
import { COST_MICRO_PKR } from '../gateway-fleet.ts';
import type { ModelRequest } from './requests.ts';

// The requests of one key, beside what the provider can bill, what was settled and what the request log has.

/** For 10 prompt tokens, as the gateway counts them, and 10 completion tokens. */
export const MAX_HELD_MICRO_PKR = 6_300n;

export interface Settlement {
  readonly id: string;
  readonly costMicroPkr: bigint;
}

export interface Money {
  readonly requests: readonly ModelRequest[];
  /** How often the provider got each request, by its number. */
  readonly bill: ReadonlyMap<number, number>;
  /** Settlements with a cost: a request that was refused after its hold costs nothing. */
  readonly settlements: readonly Settlement[];
  /** How many rows the request log has of each request. */
  readonly rows: ReadonlyMap<string, number>;
  /** The spend of the key by its own count, and by the settlements. */
  readonly spent: bigint;
  readonly settled: bigint;
}

export interface JudgedMoney {
  readonly served: number;
  readonly billed: number;
  readonly settled: number;
  /** Requests that the provider bills and nobody pays: in flight in a gateway that was killed. */
  readonly lost: number;
}

/** Throws at the first thing that was lost or doubled. */
export function judgeMoney({ requests, bill, settlements, rows, spent, settled }: Money): JudgedMoney {
  const served = requests.filter(({ outcome }) => outcome === 'served');
  for (const { number, outcome, status, requestId } of requests) {
    assert.notEqual(status, 500, `request ${number} (${requestId}) was answered with 500`);
    const asked = bill.get(number) ?? 0;
    assert.ok(asked <= 1, `request ${number} was sent to the provider ${asked} times`);
    if (outcome === 'served') assert.equal(asked, 1, `request ${number} was served and is not billed`);
    if (outcome === 'not read') assert.equal(asked, 0, `request ${number} was not read, and is billed`);
  }
  const ids = new Set(served.map(({ requestId }) => requestId as string));
  assert.equal(ids.size, served.length, 'two answers have one id');

  const costs = new Map(settlements.map(({ id, costMicroPkr }) => [id, costMicroPkr]));
  assert.equal(costs.size, settlements.length, 'a request is settled twice');
  for (const id of ids) {
    assert.ok(costs.has(id), `request ${id} was served and is not settled`);
    assert.equal(costs.get(id), BigInt(COST_MICRO_PKR), `the cost of the served request ${id}`);
  }
  for (const [id, cost] of costs) {
    // A request whose caller did not get the whole answer may be billed by its hold.
    assert.ok(cost <= MAX_HELD_MICRO_PKR, `request ${id} costs ${cost}, more than its hold`);
    assert.ok(rows.has(id), `request ${id} is settled and has no row in the request log`);
  }
  for (const [id, count] of rows)
    assert.equal(count, 1, `request ${id} has ${count} rows in the request log`);

  const billed = requests.filter(({ number }) => bill.has(number)).length;
  const unanswered = requests.filter(
    ({ outcome }) => outcome === 'not answered' || outcome === 'cut off',
  ).length;
  assert.ok(settlements.length <= billed, `${settlements.length} are settled, and ${billed} were billed`);
  const lost = billed - settlements.length;
  assert.ok(lost <= unanswered, `${lost} were billed and not settled, and ${unanswered} got no answer`);
  assert.equal(settled, spent, 'what is spent is not what was settled');
  return { served: served.length, billed, settled: settlements.length, lost };
}
