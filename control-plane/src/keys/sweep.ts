import type { Database } from '@gatehouse/store';
import * as queries from './queries.ts';

/** Deletes Idempotency-Keys older than 24 hours, which have no effect. */
export async function sweepIdempotencyKeys(database: Database): Promise<void> {
  await database.run(queries.deleteOldIdempotencyKeys);
}
