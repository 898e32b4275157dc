import type { Database } from '@gatehouse/store';
import * as queries from './queries.ts';

/** Removes the Idempotency-Keys that are past their day; they have no effect any more. */
export async function sweepIdempotencyKeys(database: Database): Promise<void> {
  await database.run(queries.deleteOldIdempotencyKeys);
}
