import { createHash } from 'node:crypto';
import type { Database } from '@gatehouse/store';
import { lockFailures } from '../auth/queries.ts';

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

/**
 * Holds the sign-ins of an address whose password has been looked at, until released: all that takes long in them is
 * done by then, so that they wait for the next lock well within the time limit.
 */
export async function holdSignIns(owner: Database, email: string): Promise<{ release(): Promise<void> }> {
  const client = await owner.connect();
  await client.query('BEGIN');
  await client.query(lockFailures.text, [createHash('sha256').update(email).digest()]);
  return {
    async release() {
      await client.query('COMMIT');
      await client.end();
    },
  };
}
