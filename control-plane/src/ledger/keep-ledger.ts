import type { Database } from '@gatehouse/store';
import * as queries from './queries.ts';

/** A week of settlements that became sums. */
export interface Fold {
  readonly partition: string;
  readonly requests: number;
  readonly spentMicroPkr: bigint;
}

/**
 * Makes the ledger's partitions of the weeks to come, closes the weeks that are past being kept, and folds what is
 * closed, week by week. Several nodes may do it at once, and any of them may be killed at it: a week folds whole or
 * not at all. A week may hold many rows, so this has a connection without the pool's time limits; the signal ends it.
 */
export async function* keepLedger(database: Database, signal?: AbortSignal): AsyncGenerator<Fold> {
  await database.one(queries.keepSettlements);
  const client = await database.connect();
  const onAbort = () => void client.end();
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    while (!signal?.aborted) {
      const { rows } = await client.query<queries.FoldRow>(queries.foldSettlements.text);
      const row = rows[0];
      if (!row || row.folded === null) return;
      yield {
        partition: row.folded,
        requests: Number(row.requests),
        spentMicroPkr: row.spent_micro_pkr ?? 0n,
      };
    }
  } catch (error) {
    if (!signal?.aborted) throw error;
  } finally {
    signal?.removeEventListener('abort', onAbort);
    await client.end();
  }
}
