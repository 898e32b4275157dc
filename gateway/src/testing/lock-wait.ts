import { type Database, type NoParameters, sql, statement } from '@gatehouse/store';

const countLockWaits = statement<NoParameters, { waits: bigint }>(
  'test-count-lock-waits',
  sql`
    SELECT count(*) AS waits FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`,
);

const MAX_WAIT_MS = 30_000;

/** Resolves once a statement of this database waits for a lock. @throws Error when none does in time */
export async function untilLockWait(owner: Database): Promise<void> {
  for (const end = performance.now() + MAX_WAIT_MS; performance.now() < end; ) {
    if (((await owner.one(countLockWaits))?.waits ?? 0n) > 0n) return;
  }
  throw new Error(`no statement waits for a lock within ${MAX_WAIT_MS} ms`);
}
