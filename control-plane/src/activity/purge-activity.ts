import type { Database } from '@gatehouse/store';
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

/** Removes the entries that are past their organisation's retention. Only logs that lose or refuse some are told of. */
export async function* purgeActivity(database: Database, organizationId?: string): AsyncGenerator<Purge> {
  for (const { id, name } of await database.many(queries.listOverdueLogs, [organizationId ?? null])) {
    let removed = 0;
    let brokenSequence: bigint | null = null;
    for (let count = AT_ONCE; count === AT_ONCE && brokenSequence === null; ) {
      const batch = await database.one(queries.purgeEvents, [id, AT_ONCE]);
      if (!batch) throw new Error('the purge said nothing');
      count = Number(batch.removed);
      removed += count;
      brokenSequence = batch.broken_sequence;
    }
    if (removed > 0 || brokenSequence !== null)
      yield { organizationId: id, organizationName: name, removed, brokenSequence };
  }
}
