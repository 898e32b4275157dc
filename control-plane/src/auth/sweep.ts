import type { Database } from '@gatehouse/store';
import * as queries from './queries.ts';
import { sweepRegistrations } from './registrations.ts';

/** Deletes expired rows that no longer have an effect. */
export async function sweepExpired(database: Database, signInWindowSeconds: number): Promise<void> {
  await database.run(queries.deleteExpiredSessions);
  await database.run(queries.deleteExpiredAccessTokens);
  await database.run(queries.deleteExpiredCredentials);
  await database.run(queries.deleteOldFailures, { windowSeconds: signInWindowSeconds });
  await sweepRegistrations(database);
}
