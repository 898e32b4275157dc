import assert from 'node:assert/strict';
import { sql, statement } from '@gatehouse/store';
import { type Balance, checkChanges } from '../changes-load.ts';
import type { NodesFleet } from './fleet.ts';
import type { MixedLoad } from './load.ts';
import { type JudgedMoney, judgeMoney, type Settlement } from './money.ts';
import type { ModelRequest } from './requests.ts';

// The promises that must hold once all nodes are back: nothing that was acknowledged is lost, nothing is doubled, and what was
// spent is what the provider can bill, less what was in flight in a killed gateway.

const SHIPPED_WITHIN_MS = 120_000;
const AGAIN_MS = 50;

const listSettlements = statement<{ keyId: string }, Settlement>(
  'drill-nodes-settlements',
  sql`SELECT request_id::text AS id, cost_micro_pkr FROM settlements WHERE key_id = ${'keyId'}`,
);
const findMoney = statement<{ keyId: string }, { spent: bigint; settled: bigint }>(
  'drill-nodes-money',
  sql`SELECT spent_micro_pkr AS spent,
          (SELECT coalesce(sum(cost_micro_pkr), 0)::bigint FROM settlements s WHERE s.key_id = k.id) AS settled
   FROM api_keys k WHERE id = ${'keyId'}`,
);

export interface Judged extends JudgedMoney {
  readonly changes: Balance;
  readonly acknowledged: number;
}

/** Throws at the first thing that was lost or doubled. */
export async function judgeLoad(fleet: NodesFleet, { told, callers, keyId }: MixedLoad): Promise<Judged> {
  assertNoInternalErrors(fleet.logLines());
  const changes = await checkChanges(fleet.database, told);
  const money = await judgeMoneyOf(fleet, callers.requests, keyId);
  const acknowledged = [...told.acknowledged.values()].reduce((sum, count) => sum + count, 0);
  return { ...money, changes, acknowledged };
}

/** Waits for what a gateway that comes back has yet to ship: it had recorded it before it was killed. */
export async function judgeMoneyOf(
  { database, telemetry, provider }: NodesFleet,
  requests: readonly ModelRequest[],
  keyId: string,
): Promise<JudgedMoney> {
  const served = requests.flatMap(({ outcome, requestId }) => (outcome === 'served' ? [requestId] : []));
  const settlements = await until(
    async () =>
      (await database.many(listSettlements, { keyId })).filter(({ costMicroPkr }) => costMicroPkr > 0n),
    (found) => {
      const settled = new Set<string | undefined>(found.map(({ id }) => id));
      return served.every((id) => settled.has(id));
    },
  );
  const rows = await until(
    () => requestRows(telemetry, keyId),
    (found) => settlements.every(({ id }) => found.has(id)),
  );
  const { spent, settled } = (await database.one(findMoney, { keyId })) ?? assert.fail('the key is gone');
  return judgeMoney({ requests, bill: provider.bill, settlements, rows, spent, settled });
}

/** The first answer that is complete; after some time the last one, which is judged as it is. */
async function until<T>(read: () => Promise<T>, isComplete: (found: T) => boolean): Promise<T> {
  const end = performance.now() + SHIPPED_WITHIN_MS;
  for (;;) {
    const found = await read();
    if (isComplete(found) || performance.now() > end) return found;
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}

async function requestRows(
  telemetry: NodesFleet['telemetry'],
  keyId: string,
): Promise<ReadonlyMap<string, number>> {
  const result = await telemetry.query({
    query: `SELECT toString(request_id) AS id, toUInt32(count()) AS count FROM request_log WHERE key_id = {keyId:UUID} GROUP BY id`,
    query_params: { keyId },
    format: 'JSONEachRow',
  });
  const rows = await result.json<{ id: string; count: number }>();
  return new Map(rows.map(({ id, count }) => [id, count]));
}

/** No node had an internal error. */
export function assertNoInternalErrors(lines: readonly Record<string, unknown>[]): void {
  for (const line of lines) {
    const isInternal =
      line['event'] === 'http.request_failed' ||
      line['event'] === 'request.internal_error' ||
      (line['msg'] === 'request' && line['status'] === 500);
    assert.ok(!isInternal, `a node had an internal error: ${JSON.stringify(line)}`);
  }
}
