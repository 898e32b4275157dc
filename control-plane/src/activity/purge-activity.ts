import type { OrganizationId } from '@gatehouse/contract';
import { type Database, DatabaseUnavailable } from '@gatehouse/store';
import * as queries from './queries.ts';

/** The entries that retention removed from the log of one organisation. */
export interface Purge {
  readonly organizationId: OrganizationId;
  readonly organizationName: string;
  /** How many entries were removed. */
  readonly removed: number;
  /** The broken entry that stopped the purge; null when there is none. */
  readonly brokenSequence: bigint | null;
}

// One statement stays far below its time limit.
const BATCH_SIZE = 2_000;

/**
 * Removes the entries that are past their organisation's retention. Yields the logs that lost entries or are broken.
 * A database error in one log does not stop the others; it is thrown at the end.
 */
export async function* purgeActivity(
  database: Database,
  organizationId?: OrganizationId,
): AsyncGenerator<Purge> {
  const failures: unknown[] = [];
  for (const { id, name } of await database.many(queries.listOverdueLogs, {
    organizationId: organizationId ?? null,
  })) {
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

async function purgeLog(
  database: Database,
  organizationId: OrganizationId,
): Promise<Pick<Purge, 'removed' | 'brokenSequence'>> {
  let removed = 0;
  for (;;) {
    const batch = await database.one(queries.purgeEvents, { organizationId, atMost: BATCH_SIZE });
    if (!batch) throw new Error('the purge returned no row');
    removed += Number(batch.removed);
    if (Number(batch.removed) < BATCH_SIZE || batch.brokenSequence !== null)
      return { removed, brokenSequence: batch.brokenSequence };
  }
}
