import type { ClickHouseClient } from '@clickhouse/client';

/** The rows of a query, parsed from JSON. */
export async function rowsOf<Row>(
  client: ClickHouseClient,
  query: string,
  parameters: Record<string, unknown> = {},
): Promise<Row[]> {
  const answer = await client.query({ query, query_params: parameters, format: 'JSONEachRow' });
  return answer.json<Row>();
}
