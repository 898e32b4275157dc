import { type Database, type NoParameters, sql, statement } from '@gatehouse/store';

/** Locks the organisation's row like a change of its keys, until released. */
export async function holdOrganization(
  database: Database,
  organizationId: string,
): Promise<{ release(): Promise<void> }> {
  const client = await database.connect();
  await client.query('BEGIN');
  await client.query('SELECT FROM organizations WHERE id = $1 FOR NO KEY UPDATE', [organizationId]);
  return {
    async release() {
      await client.query('COMMIT');
      await client.end();
    },
  };
}

const countWaiting = statement<NoParameters, { waiting: bigint }>(
  'test-api-count-waiting',
  sql`SELECT count(*) AS waiting FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
);

const TIMEOUT_MS = 30_000;

/** Resolves once at least `count` statements of this database wait for a lock. */
export async function waitingForLocks(database: Database, count: number): Promise<void> {
  const end = performance.now() + TIMEOUT_MS;
  while (performance.now() < end) {
    const row = await database.one(countWaiting);
    if (Number(row?.waiting) >= count) return;
  }
  throw new Error(`fewer than ${count} statements waited for a lock within ${TIMEOUT_MS} ms`);
}
