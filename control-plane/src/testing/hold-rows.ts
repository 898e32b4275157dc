import type { Database } from '@gatehouse/store';

/** Locks the head of the organisation's activity log until released, so that every recording change waits at its end. */
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

/** Locks an account against sign-ins and changes until released. */
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
