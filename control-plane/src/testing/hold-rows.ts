import type { Database } from '@gatehouse/store';

/** Holds the log of an organisation, so that what is about to record in it waits at its very end; until released. */
export async function holdLog(
  owner: Database,
  organizationId: string,
): Promise<{ release(): Promise<void> }> {
  const client = await owner.connect();
  await client.query('BEGIN');
  await client.query('SELECT FROM activity_heads WHERE organization_id = $1 FOR UPDATE', [organizationId]);
  return {
    async release() {
      await client.query('COMMIT');
      await client.end();
    },
  };
}

/** Holds an account against sign-ins and changes, until released. */
export async function holdAccount(owner: Database, userId: string): Promise<{ release(): Promise<void> }> {
  const client = await owner.connect();
  await client.query('BEGIN');
  await client.query('SELECT FROM users WHERE id = $1 FOR UPDATE', [userId]);
  return {
    async release() {
      await client.query('COMMIT');
      await client.end();
    },
  };
}
