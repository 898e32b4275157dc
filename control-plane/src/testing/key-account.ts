import assert from 'node:assert/strict';
import { activity, organization } from '@gatehouse/contract';
import { statement } from '@gatehouse/store';
import type { SignedUp, TestApi } from './test-api.ts';

const countRows = statement<{ keys: bigint }>(
  'test-count-keys',
  `SELECT count(*) AS keys FROM api_keys WHERE organization_id = $1`,
);

/** An account that mints keys in its first project. */
export interface KeyAccount extends SignedUp {
  readonly projectId: string;
}

export async function signUpForKeys(api: TestApi): Promise<KeyAccount> {
  const account = await api.signUp();
  const { projects } = await account.client.call(organization.listProjects);
  return { ...account, projectId: projects[0]?.id ?? assert.fail('no first project') };
}

/** The number of the organisation's keys, revoked ones included. */
export async function countKeys(api: TestApi, { organizationId }: SignedUp): Promise<number> {
  return Number((await api.database.one(countRows, [organizationId]))?.keys);
}

/** The organisation's newest entries of one kind in the activity log. */
export async function eventsOf(
  { client }: SignedUp,
  action: 'api_key.created' | 'api_key.revoked' | 'api_key.updated',
) {
  const { events } = await client.call(activity.listActivity, { query: { limit: 200 } });
  return events.filter((event) => event.action === action);
}
