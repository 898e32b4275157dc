import type { KeyId, OrganizationId, RequestId } from '@gatehouse/contract';
import type { Settlement } from '@gatehouse/gateway/journal';
import type { TelemetryClient } from '@gatehouse/store';

const PAGE_ROWS = 5_000;

interface CostRow {
  readonly request_id: string;
  readonly key_id: string;
  readonly cost_micro_pkr: string;
  readonly micros: string;
}

/** The costs of the organisation's requests that were not free, oldest first, in batches. */
export async function* costsOf(
  client: TelemetryClient,
  database: string,
  organizationId: string,
): AsyncGenerator<Settlement[]> {
  let last = { micros: '0', request_id: '' };
  for (;;) {
    const answer = await client.query({
      query: `SELECT request_id, key_id, cost_micro_pkr, toUnixTimestamp64Micro(timestamp) AS micros
        FROM ${database}.request_log
        WHERE organization_id = {organization:UUID} AND cost_micro_pkr > 0
          AND timestamp >= fromUnixTimestamp64Micro({micros:Int64})
          AND (timestamp, request_id) > (fromUnixTimestamp64Micro({micros:Int64}), {request:String})
        ORDER BY timestamp, request_id LIMIT ${PAGE_ROWS}`,
      query_params: { organization: organizationId, micros: last.micros, request: last.request_id },
      format: 'JSONEachRow',
    });
    const rows = await answer.json<CostRow>();
    const end = rows.at(-1);
    if (!end) return;
    last = end;
    yield rows.map((row) => ({
      requestId: row.request_id as RequestId,
      organizationId: organizationId as OrganizationId,
      keyId: row.key_id as KeyId,
      costMicroPkr: BigInt(row.cost_micro_pkr),
    }));
  }
}

/** The spend of each key, from the same rows. */
export async function spendByKey(
  client: TelemetryClient,
  database: string,
  organizationId: string,
): Promise<ReadonlyMap<string, bigint>> {
  const answer = await client.query({
    query: `SELECT key_id, sum(cost_micro_pkr) AS cost FROM ${database}.request_log
      WHERE organization_id = {organization:UUID} GROUP BY key_id`,
    query_params: { organization: organizationId },
    format: 'JSONEachRow',
  });
  const rows = await answer.json<{ key_id: string; cost: string }>();
  return new Map(rows.map((row) => [row.key_id, BigInt(row.cost)]));
}
