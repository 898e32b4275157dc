import assert from 'node:assert/strict';
import { sql, statement } from '@gatehouse/store';
import { eventually } from '../../service-process.ts';
import { type Balance, checkChanges } from '../changes-load.ts';
import { COST_MICRO_PKR } from '../gateway-fleet.ts';
import type { NodesFleet } from './fleet.ts';
import type { MixedLoad } from './load.ts';
import type { ModelRequest } from './requests.ts';

// What must hold once all nodes are back: nothing that was acknowledged is lost, nothing is doubled, and what was spent is what the
// provider can bill, less what was in flight in a killed gateway.

const SHIPPED_WITHIN_MS = 120_000;
/** For 10 prompt tokens, as the gateway counts them, and 10 completion tokens. */
const MOST_HELD_MICRO_PKR = 6_300n;

const listSettlements = statement<{ keyId: string }, { id: string; costMicroPkr: bigint }>(
  'drill-nodes-settlements',
  sql`SELECT request_id::text AS id, cost_micro_pkr FROM settlements WHERE key_id = ${'keyId'}`,
);
const findMoney = statement<
  { keyId: string },
  { spent: bigint; held: bigint; settled: bigint; holds: bigint }
>(
  'drill-nodes-money',
  sql`SELECT spent_micro_pkr AS spent, held_micro_pkr AS held,
          (SELECT coalesce(sum(cost_micro_pkr), 0)::bigint FROM settlements s WHERE s.key_id = k.id) AS settled,
          (SELECT count(*) FROM holds h WHERE h.key_id = k.id) AS holds
   FROM api_keys k WHERE id = ${'keyId'}`,
);

export interface Judged {
  readonly served: number;
  readonly billed: number;
  readonly settled: number;
  /** What the provider bills and nobody pays: in flight in a gateway that was killed. */
  readonly lost: number;
  readonly changes: Balance;
  readonly acknowledged: number;
}

/** Throws at the first thing that was lost or doubled. */
export async function judgeLoad(fleet: NodesFleet, { told, callers, keyId }: MixedLoad): Promise<Judged> {
  assertNoInternalErrors(fleet);
  const changes = await checkChanges(fleet.database, told);
  const money = await judgeMoney(fleet, callers.requests, keyId);
  const acknowledged = [...told.acknowledged.values()].reduce((sum, count) => sum + count, 0);
  return { ...money, changes, acknowledged };
}

/** The requests of one key, beside settlements, rows of the request log and the provider's bill. */
export async function judgeMoney(fleet: NodesFleet, requests: readonly ModelRequest[], keyId: string) {
  const served = requests.filter(({ outcome }) => outcome === 'served');
  for (const { number } of requests) {
    const asked = fleet.provider.bill.get(number) ?? 0;
    assert.ok(asked <= 1, `request ${number} was sent to the provider ${asked} times`);
  }
  for (const { number } of served)
    assert.equal(fleet.provider.bill.get(number), 1, `request ${number} is not billed`);

  for (const { number, outcome } of requests)
    if (outcome === 'not read')
      assert.equal(fleet.provider.bill.get(number), undefined, `request ${number} was read`);

  const ids = served.map(({ requestId }) => requestId as string);
  assert.equal(new Set(ids).size, ids.length, 'two answers have one id');
  // A gateway that comes back ships what it had recorded before it was killed.
  const settlements = await eventually(async () => {
    const rows = (await fleet.database.many(listSettlements, { keyId })).filter(
      // A request that was refused after its hold costs nothing.
      ({ costMicroPkr }) => costMicroPkr > 0n,
    );
    const settled = new Set(rows.map(({ id }) => id));
    return ids.every((id) => settled.has(id)) ? rows : undefined;
  }, SHIPPED_WITHIN_MS);
  assert.equal(
    new Set(settlements.map(({ id }) => id)).size,
    settlements.length,
    'a request is settled twice',
  );
  // A request whose caller did not get the whole answer may be billed by its hold.
  const whole = new Set(ids);
  for (const { id, costMicroPkr } of settlements) {
    if (whole.has(id)) assert.equal(costMicroPkr, BigInt(COST_MICRO_PKR), `served request ${id}`);
    else assert.ok(costMicroPkr <= MOST_HELD_MICRO_PKR, `request ${id} costs ${costMicroPkr}`);
  }

  const rows = await eventually(async () => {
    const found = await requestRows(fleet, keyId);
    return settlements.every(({ id }) => found.has(id)) ? found : undefined;
  }, SHIPPED_WITHIN_MS);
  for (const [id, count] of rows)
    assert.equal(count, 1, `request ${id} has ${count} rows in the request log`);

  const billed = requests.filter(({ number }) => fleet.provider.bill.has(number)).length;
  const unanswered = requests.filter(
    ({ outcome }) => outcome === 'not answered' || outcome === 'cut off',
  ).length;
  assert.ok(settlements.length <= billed, `${settlements.length} are settled, and ${billed} were billed`);
  const lost = billed - settlements.length;
  assert.ok(lost <= unanswered, `${lost} were billed and not settled, and ${unanswered} got no answer`);
  const money = await fleet.database.one(findMoney, { keyId });
  assert.equal(money?.settled, money?.spent, 'what is spent is not what was settled');
  return { served: served.length, billed, settled: settlements.length, lost };
}

async function requestRows({ telemetry }: NodesFleet, keyId: string): Promise<Map<string, number>> {
  const result = await telemetry.query({
    query: `SELECT toString(request_id) AS id, toUInt32(count()) AS count FROM request_log WHERE key_id = {keyId:UUID} GROUP BY id`,
    query_params: { keyId },
    format: 'JSONEachRow',
  });
  const rows = await result.json<{ id: string; count: number }>();
  return new Map(rows.map(({ id, count }) => [id, count]));
}

/** No node had an internal error. */
export function assertNoInternalErrors(fleet: NodesFleet): void {
  for (const line of fleet.logLines()) {
    const isInternal =
      line['event'] === 'http.request_failed' ||
      line['event'] === 'request.internal_error' ||
      (line['msg'] === 'request' && line['status'] === 500);
    assert.ok(!isInternal, `a node had an internal error: ${JSON.stringify(line)}`);
  }
}
