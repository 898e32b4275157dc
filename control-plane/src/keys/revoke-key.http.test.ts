import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { keys } from '@gatehouse/contract';
import { sql, statement } from '@gatehouse/store';
import { comparable } from '../testing/comparable.ts';
import { holdOrganization, waitingForLocks } from '../testing/hold-organization.ts';
import { eventsOf, mintKey, signUpForKeys } from '../testing/key-account.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

const stateOf = statement<{ id: string }, { isRevoked: boolean }>(
  'test-key-state',
  sql`SELECT revoked_at IS NOT NULL AS is_revoked FROM api_keys WHERE id = ${'id'}`,
);

describe('DELETE /keys/{key_id}', () => {
  let api: TestApi;
  before(async () => {
    api = await startTestApi();
  });
  after(() => api?.[Symbol.asyncDispose]());

  it('200 naming the prefix, for an id in any case; the key leaves the list and the log names the actor', async () => {
    const account = await signUpForKeys(api);
    const [key, other] = [await mintKey(account), await mintKey(account)];
    const { message } = await account.client.call(keys.revokeKey, {
      params: { key_id: key.id.toUpperCase() },
    });
    assert.equal(message, `The key ${key.key_prefix} is revoked.`);
    assert.deepEqual(
      (await account.client.call(keys.listKeys)).keys.map((row) => row.id),
      [other.id],
    );
    const [event, ...more] = await eventsOf(account, 'api_key.revoked');
    assert.deepEqual([event?.target, event?.actor], [key.key_prefix, account.email]);
    assert.deepEqual(more, []);
  });

  it('404 alike for a key that is foreign, unknown, malformed or already revoked', async () => {
    const [account, stranger] = [await signUpForKeys(api), await signUpForKeys(api)];
    const [foreign, own] = [await mintKey(stranger), await mintKey(account)];
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

    assert.equal((await api.database.one(stateOf, { id: foreign.id }))?.isRevoked, false);
    assert.deepEqual(await eventsOf(stranger, 'api_key.revoked'), []);
    assert.equal((await eventsOf(account, 'api_key.revoked')).length, 1);
  });

  it('200 once and 404 otherwise for 50 concurrent requests, with one event', async () => {
    const account = await signUpForKeys(api);
    const key = await mintKey(account);
    const replies = await Promise.all(
      Array.from({ length: 50 }, () =>
        account.client.copy().send(keys.revokeKey, { params: { key_id: key.id } }),
      ),
    );
    const statuses = replies.map((reply) => reply.status).sort();
    assert.deepEqual(statuses, [200, ...Array(49).fill(404)]);
    assert.equal((await eventsOf(account, 'api_key.revoked')).length, 1);
  });

  it('200 only after the lock of the organisation is released', async () => {
    const account = await signUpForKeys(api);
    const key = await mintKey(account);
    const held = await holdOrganization(api.database, account.organizationId);
    const pending = account.client.call(keys.revokeKey, { params: { key_id: key.id } });
    await waitingForLocks(api.database, 1);
    assert.equal((await api.database.one(stateOf, { id: key.id }))?.isRevoked, false);
    await held.release();
    await pending;
    assert.equal((await api.database.one(stateOf, { id: key.id }))?.isRevoked, true);
  });

  it('never a 5xx for mints, lists and revocations in any order, and one event for each change', async () => {
    const account = await signUpForKeys(api);
    const revoked: number[] = [];
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        const client = account.client.copy();
        for (let round = 0; round < 5; round += 1) {
          await mintKey({ ...account, client });
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
