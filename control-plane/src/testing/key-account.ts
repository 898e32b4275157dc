import assert from 'node:assert/strict';
import { type ActivityAction, activity, keys, type OrganizationId, organization } from '@gatehouse/contract';
import { sql, statement } from '@gatehouse/store';
import { runSql } from '@gatehouse/store/testing';
import type { SignedUp, TestApi } from './test-api.ts';

const countRows = statement<{ organizationId: OrganizationId }, { keys: bigint }>(
  'test-api-count-keys',
  sql`SELECT count(*) AS keys FROM api_keys WHERE organization_id = ${'organizationId'}`,
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

/** Mints a key in the account's project; `fields` override the defaults. */
export function mintKey({ client, projectId }: KeyAccount, fields: object = {}) {
  return client.call(keys.createKey, { body: { project_id: projectId, name: 'k', ...fields } });
}

/** Sends a JSON body exactly as written, which no serialiser would produce. */
export async function sendText(account: SignedUp, method: 'POST' | 'PATCH', path: string, body: string) {
  const headers = { 'content-type': 'application/json', cookie: cookieOf(account) };
  const { status, text } = await account.client.raw({ method, path: `/api${path}`, headers, body });
  return { status, body: JSON.parse(text) as Record<string, unknown> };
}

/** The account's session cookies as a header. */
export function cookieOf({ client }: SignedUp): string {
  return [...client.cookies].map((pair) => pair.join('=')).join('; ');
}

/** The members that the issues of a 400 name, each once. */
export function issueNames(body: Readonly<Record<string, unknown>>): (string | undefined)[] {
  return [...new Set((body['detail'] as { loc: string[] }[]).map(({ loc }) => loc[1]))];
}

/** The number of the organisation's keys, revoked ones included. */
export async function countKeys(api: TestApi, { organizationId }: SignedUp): Promise<number> {
  return Number((await api.database.one(countRows, { organizationId }))?.keys);
}

/** The organisation's newest entries of one kind in the activity log. */
export async function eventsOf({ client }: SignedUp, action: ActivityAction) {
  const { events } = await client.call(activity.listActivity, { query: { limit: 200 } });
  return events.filter((event) => event.action === action);
}

/** Gives the second key to another member, and takes the third from everyone. The member of each, by id. */
export async function shareKeys(
  api: TestApi,
  account: SignedUp,
  [, second = '', third = '']: readonly string[],
): Promise<(string | null)[]> {
  const { userId } = await api.signUp({ organization: account.organizationName });
  await runSql(api.database)`UPDATE api_keys SET created_by = ${userId} WHERE id = ${second}`;
  await runSql(api.database)`UPDATE api_keys SET created_by = NULL WHERE id = ${third}`;
  return [account.userId, userId, null];
}
