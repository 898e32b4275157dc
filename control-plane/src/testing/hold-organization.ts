import { type Database, statement } from '@gatehouse/store';

/** Holds the organisation's row as an edit of its keys would, until released. */
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

const countWaiting = statement<{ waiting: bigint }>(
  'test-count-waiting',
  `SELECT count(*) AS waiting FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
);

const PATIENCE_MS = 30_000;

/** Returns once so many statements of this database wait for a lock that another holds. */
export async function waitingForLocks(database: Database, count: number): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (performance.now() < end) {
    const row = await database.one(countWaiting);
    if (Number(row?.waiting) >= count) return;
  }
  throw new Error(`no ${count} statements came to wait for a lock`);
}
