import type { Database } from '@gatehouse/store';
import * as queries from './queries.ts';
import { deleteEndedSecrets } from './rotation/queries.ts';

/** Deletes the secrets of rotated keys whose grace has ended. No gateway accepts them any more. */
export async function sweepEndedSecrets(database: Database): Promise<void> {
  await database.run(deleteEndedSecrets);
}

/** Deletes Idempotency-Keys older than 24 hours, which have no effect. */
export async function sweepIdempotencyKeys(database: Database): Promise<void> {
  await database.run(queries.deleteOldIdempotencyKeys);
}
