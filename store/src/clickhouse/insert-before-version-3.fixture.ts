import type { ClickHouseClient } from '@clickhouse/client';
import { REQUEST_LOG_COLUMN_NAMES, toCells } from './request-log-cells.ts';
import type { RequestLogRow } from './request-log-columns.ts';

// Columns that came with version 3 or later.
const LATER = new Set(['request_count', 'attempts']);

/** Stores a batch as a node does that knows nothing of the columns that came later. */
export async function insertBeforeVersion3(
  client: ClickHouseClient,
  rows: readonly RequestLogRow[],
  { token, database }: { readonly token: string; readonly database: string },
): Promise<void> {
  const known = REQUEST_LOG_COLUMN_NAMES.map((name) => !LATER.has(name));
  await client.insert({
    table: `${database}.request_log`,
    columns: REQUEST_LOG_COLUMN_NAMES.filter((_, place) => known[place]) as [string, ...string[]],
    values: rows.map((row) => toCells(row).filter((_, place) => known[place])),
    format: 'JSONCompactEachRow',
    clickhouse_settings: {
      insert_deduplication_token: token,
      deduplicate_blocks_in_dependent_materialized_views: 1,
      async_insert: 0,
      input_format_parallel_parsing: 0,
    },
  });
}
