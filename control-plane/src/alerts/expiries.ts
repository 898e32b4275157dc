import type { Database } from '@gatehouse/store';
import { alertOfExpiries } from './queries.ts';

/** How many keys one transaction locks. */
const MAX_KEYS = 500;

/** Writes the alerts of keys that expire soon. */
export async function alertOfExpiringKeys(database: Database, signal: AbortSignal): Promise<void> {
  for (let keys = MAX_KEYS; keys === MAX_KEYS && !signal.aborted; ) {
    keys = (await database.one(alertOfExpiries, { most: MAX_KEYS }))?.keys ?? 0;
  }
}
