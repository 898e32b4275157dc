import type { ClickHouseClient, ClickHouseSettings } from '@clickhouse/client';
import { REQUEST_LOG_COLUMN_NAMES, toCells } from './request-log-cells.ts';
import type { RequestLogRow } from './request-log-columns.ts';
import { sqlName } from './sql-statement.ts';

/** The largest batch that is sent as one block, and so stored whole or not at all in each of its months. */
export const REQUEST_LOG_BATCH_ROWS = 10_000;

export type InsertRequestLogOptions = {
  /** Names the batch. The same rows may be sent under it any number of times and are stored once. */
  readonly token: string;
  readonly database: string;
  /** On a cluster: how many nodes must have the batch, or `auto`. */
  readonly quorum?: string | undefined;
  readonly signal?: AbortSignal;
};

/**
 * Stores a batch. When it returns, the rows are on the store's disk, on a cluster on as many nodes as the quorum says, and
 * in `key_last_used`. After any error the batch
 * may or may not be stored: send it again unchanged under its token, which must be among the last 1,000.
 *
 * Exactly-once holds for a batch that spans months as well: the store keeps the token for each month's part, so a
 * repeat adds only the parts that a crash left out.
 *
 * @throws RangeError when a value does not fit its column or the batch is too large, before anything is sent
 * @throws ClickHouseError, or an Error with a system code when the store cannot be reached
 */
export async function insertRequestLog(
  client: ClickHouseClient,
  rows: readonly RequestLogRow[],
  options: InsertRequestLogOptions,
): Promise<void> {
  if (rows.length === 0) return;
  if (rows.length > REQUEST_LOG_BATCH_ROWS) {
    throw new RangeError(`A batch holds at most ${REQUEST_LOG_BATCH_ROWS} rows, not ${rows.length}`);
  }
  // Without a token the store would compare contents, and drop two equal batches that are both real.
  if (options.token === '') throw new RangeError('A batch needs a token');
  await client.insert({
    table: `${sqlName(options.database)}.request_log`,
    columns: REQUEST_LOG_COLUMN_NAMES,
    values: rows.map(toCells),
    format: 'JSONCompactEachRow',
    ...(options.signal === undefined ? {} : { abort_signal: options.signal }),
    clickhouse_settings: {
      insert_deduplicate: 1,
      insert_deduplication_token: options.token,
      deduplicate_blocks_in_dependent_materialized_views: 1,
      // Waiting for other callers' rows would delay the answer, and tokens of batches stored together are lost.
      async_insert: 0,
      wait_end_of_query: 1,
      // The token numbers the blocks, so a batch must be one block each time: no threads, no splitting.
      input_format_parallel_parsing: 0,
      max_insert_threads: '1',
      max_insert_block_size: String(REQUEST_LOG_BATCH_ROWS),
      min_insert_block_size_rows: String(REQUEST_LOG_BATCH_ROWS),
      min_insert_block_size_bytes: '0',
      ...INSERT_LIMITS,
      ...(options.quorum !== undefined && quorumSettings(options.quorum)),
    },
  });
}

/** The time ends before the client's own, so that a batch is not sent again while the first one is still being stored. */
const INSERT_LIMITS = { max_execution_time: 25, max_memory_usage: String(1024 ** 3) } as const;

// A batch that one node has and that is not acknowledged yet is sent again under its token, to any node: the node waits
// for the others to copy the batch, and stores nothing twice.
function quorumSettings(quorum: string): ClickHouseSettings {
  return { insert_quorum: quorum, insert_quorum_parallel: 1, insert_quorum_timeout: 20_000 };
}
