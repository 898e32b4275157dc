import { type Database, DatabaseUnavailable } from '@gatehouse/store';
import * as queries from './queries.ts';

/** What retention did to the log of one organisation. */
export interface Purge {
  readonly organizationId: string;
  readonly organizationName: string;
  /** How many entries are gone. */
  readonly removed: number;
  /** The entry that is not as it was written, because of which the rest stays; null where all is well. */
  readonly brokenSequence: bigint | null;
}

// So many that one statement stays far below its time limit.
const AT_ONCE = 2_000;

/**
 * Removes the entries that are past their organisation's retention. Only logs that lose or refuse some are told of.
 * A log in which the database itself stumbles keeps none of the others waiting; what it said is thrown at the end.
 */
export async function* purgeActivity(database: Database, organizationId?: string): AsyncGenerator<Purge> {
  const failures: unknown[] = [];
  for (const { id, name } of await database.many(queries.listOverdueLogs, [organizationId ?? null])) {
    const { removed, brokenSequence } = await purgeLog(database, id).catch((error: unknown) => {
      if (error instanceof DatabaseUnavailable) throw error;
      failures.push(error);
      return { removed: 0, brokenSequence: null };
    });
    if (removed > 0 || brokenSequence !== null)
      yield { organizationId: id, organizationName: name, removed, brokenSequence };
  }
  if (failures.length > 0) throw failures[0];
}

async function purgeLog(database: Database, id: string): Promise<Pick<Purge, 'removed' | 'brokenSequence'>> {
  let removed = 0;
  for (;;) {
    const batch = await database.one(queries.purgeEvents, [id, AT_ONCE]);
    if (!batch) throw new Error('the purge said nothing');
    removed += Number(batch.removed);
    if (Number(batch.removed) < AT_ONCE || batch.broken_sequence !== null)
      return { removed, brokenSequence: batch.broken_sequence };
  }
}
