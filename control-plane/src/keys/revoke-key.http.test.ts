import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { keys, organization } from '@gatehouse/contract';
import { statement } from '@gatehouse/store';
import { comparable } from '../testing/comparable.ts';
import { holdOrganization, waitingForLocks } from '../testing/hold-organization.ts';
import { eventsOf } from '../testing/key-account.ts';
import { type SignedUp, startTestApi, type TestApi } from '../testing/test-api.ts';

const stateOf = statement<{ is_revoked: boolean }>(
  'test-key-state',
  `SELECT revoked_at IS NOT NULL AS is_revoked FROM api_keys WHERE id = $1`,
);

describe('DELETE /keys/{key_id}', () => {
  let api: TestApi;
  before(async () => {
    api = await startTestApi();
  });
  after(() => api[Symbol.asyncDispose]());

  async function mint({ client }: SignedUp, name = 'k') {
    const { projects } = await client.call(organization.listProjects);
    return client.call(keys.createKey, { body: { project_id: projects[0]?.id, name } });
  }

  it('200 that names the prefix; the key is gone from the list and the log says who did it', async () => {
    const account = await api.signUp();
    const [key, other] = [await mint(account), await mint(account)];
    const { message } = await account.client.call(keys.revokeKey, { params: { key_id: key.id } });
    assert.equal(message, `The key ${key.key_prefix} is revoked.`);
    assert.deepEqual(
      (await account.client.call(keys.listKeys)).keys.map((row) => row.id),
      [other.id],
    );
    const [event, ...more] = await eventsOf(account, 'api_key.revoked');
    assert.deepEqual([event?.target, event?.actor], [key.key_prefix, account.email]);
    assert.deepEqual(more, []);
  });

  it('200 for an id in capitals', async () => {
    const account = await api.signUp();
    const key = await mint(account);
    await account.client.call(keys.revokeKey, { params: { key_id: key.id.toUpperCase() } });
  });

  it('401 without a session', async () => {
    const body = await api.anonymous().refused(keys.revokeKey, 401, { params: { key_id: randomUUID() } });
    assert.deepEqual(body, { detail: 'Unauthorized' });
  });

  it('404 alike for a key that is foreign, unknown, malformed or revoked already', async () => {
    const [account, stranger] = [await api.signUp(), await api.signUp()];
    const [foreign, own] = [await mint(stranger), await mint(account)];
    await account.client.call(keys.revokeKey, { params: { key_id: own.id } });
    const replies = [];
    for (const key_id of [
      foreign.id,
      randomUUID(),
      own.id,
      'not-a-uuid',
      `{${own.id}}`,
      own.id.replaceAll('-', ''),
      `${own.id}\u0000`,
      '\u0000',
      "' OR true --",
      'x'.repeat(5000),
    ]) {
      const reply = await account.client.send(keys.revokeKey, { params: { key_id } });
      assert.equal(reply.status, 404, key_id);
      replies.push(comparable(reply));
    }
    for (const reply of replies) assert.deepEqual(reply, replies[0]);
    assert.equal(replies[0]?.text, '{"error":"Key not found."}');

    assert.equal((await api.database.one(stateOf, [foreign.id]))?.is_revoked, false);
    assert.deepEqual(await eventsOf(stranger, 'api_key.revoked'), []);
    assert.equal((await eventsOf(account, 'api_key.revoked')).length, 1);
  });

  it('200 once and 404 otherwise for 50 at the same time, with one event', async () => {
    const account = await api.signUp();
    const key = await mint(account);
    const replies = await Promise.all(
      Array.from({ length: 50 }, () =>
        account.client.copy().send(keys.revokeKey, { params: { key_id: key.id } }),
      ),
    );
    const statuses = replies.map((reply) => reply.status).sort();
    assert.deepEqual(statuses, [200, ...Array(49).fill(404)]);
    assert.equal((await eventsOf(account, 'api_key.revoked')).length, 1);
  });

  it('200 only once no one else holds the organisation', async () => {
    const account = await api.signUp();
    const key = await mint(account);
    const held = await holdOrganization(api.database, account.organizationId);
    const pending = account.client.call(keys.revokeKey, { params: { key_id: key.id } });
    await waitingForLocks(api.database, 1);
    assert.equal((await api.database.one(stateOf, [key.id]))?.is_revoked, false);
    await held.release();
    await pending;
    assert.equal((await api.database.one(stateOf, [key.id]))?.is_revoked, true);
  });

  it('never a 5xx for mints, lists and revocations in any order, and one event for each change', async () => {
    const account = await api.signUp();
    const { projects } = await account.client.call(organization.listProjects);
    const body = { project_id: projects[0]?.id, name: 'k' };
    const revoked: number[] = [];
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        const client = account.client.copy();
        for (let round = 0; round < 5; round += 1) {
          await client.call(keys.createKey, { body });
          const listed = (await client.call(keys.listKeys)).keys;
          const key_id = listed[Math.floor(listed.length / 2)]?.id ?? randomUUID();
          const reply = await client.send(keys.revokeKey, { params: { key_id } });
          assert.ok(reply.status === 200 || reply.status === 404, reply.text);
          if (reply.status === 200) revoked.push(1);
        }
      }),
    );
    const { keys: left } = await account.client.call(keys.listKeys);
    assert.equal(left.length, 80 - revoked.length);
    assert.equal((await eventsOf(account, 'api_key.revoked')).length, revoked.length);
  });
});
