import type { Database } from '@gatehouse/store';
import * as queries from './queries.ts';

/** As the driver returns it. */
interface FoldRow {
  readonly folded: string | null;
  readonly requests: bigint | null;
  readonly spent_micro_pkr: bigint | null;
}

/** A week of settlements that was replaced by sums. */
export interface Fold {
  readonly partition: string;
  readonly requests: number;
  readonly spentMicroPkr: bigint;
}

/**
 * Creates the ledger's partitions of the coming weeks, closes the weeks past retention, and folds the closed weeks into
 * sums, one by one. Before that it folds the requests that were settled hours ago, in batches. Several nodes may run it at once, and any of them may be killed: a week folds as a whole or not at all.
 * A week may hold many rows, so this uses a connection without the pool's time limits; the signal ends it.
 */
export async function* keepLedger(database: Database, signal?: AbortSignal): AsyncGenerator<Fold> {
  await database.one(queries.keepSettlements);
  const client = await database.connect();
  const onAbort = () => void client.end();
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    while (!signal?.aborted) {
      const { rows } = await client.query<{ is_done: boolean }>(queries.foldSettledRequests.text);
      if (rows[0]?.is_done !== false) break;
    }
    while (!signal?.aborted) {
      const { rows } = await client.query<FoldRow>(queries.foldSettlements.text);
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
