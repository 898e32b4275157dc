import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { keys } from '@gatehouse/contract';
import { runSql } from '@gatehouse/store/testing';
import { addRoute } from '../testing/add-route.ts';
import { comparable } from '../testing/comparable.ts';
import { eventsOf, type KeyAccount, mintKey, signUpForKeys } from '../testing/key-account.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

describe('PATCH /keys/{key_id}', () => {
  let api: TestApi;
  before(async () => {
    api = await startTestApi();
    await addRoute(api.database, 'a/one');
  });
  after(() => api?.[Symbol.asyncDispose]());

  const update = ({ client }: KeyAccount, key_id: string, body: object) =>
    client.call(keys.updateKey, { params: { key_id }, body });

  it('200 with exactly the fields of the specification, all three replaced, and an event', async () => {
    const account = await signUpForKeys(api);
    const key = await mintKey(account);
    const reply = await update(account, key.id.toUpperCase(), {
      rate_limit_rpm: 120,
      credit_limit_pkr: 12.5,
      expires_at: 4_102_444_800,
      name: 'ignored',
      environment: 'testing',
    });
    assert.deepEqual(reply, {
      id: key.id,
      key_prefix: key.key_prefix,
      rate_limit_rpm: 120,
      expires_at: '2100-01-01T00:00:00.000000+00:00',
      credit_limit_cents: 12_500_000,
    });
    const [event, ...more] = await eventsOf(account, 'api_key.updated');
    assert.deepEqual([event?.target, event?.actor], [key.key_prefix, account.email]);
    assert.deepEqual(more, []);
  });

  it('200 removing limits that are left out, null or 0', async () => {
    const account = await signUpForKeys(api);
    const key = await mintKey(account);
    for (const lifted of [
      {},
      { credit_limit_pkr: null, expires_at: null },
      { credit_limit_pkr: 0, expires_at: 0 },
    ]) {
      await update(account, key.id, { rate_limit_rpm: 1, credit_limit_pkr: 5, expires_at: 4_102_444_800 });
      const { rate_limit_rpm, credit_limit_cents, expires_at } = await update(account, key.id, {
        rate_limit_rpm: 7,
        ...lifted,
      });
      assert.deepEqual([rate_limit_rpm, credit_limit_cents, expires_at], [7, null, null]);
    }
  });

  it('200 leaving everything else of the key unchanged', async () => {
    const account = await signUpForKeys(api);
    const minted = await mintKey(account, { allowed_models: ['a/one'], environment: 'development' });
    const listed = async () =>
      (await account.client.call(keys.listKeys)).keys.find(({ id }) => id === minted.id);
    const earlier = await listed();
    await update(account, minted.id, { rate_limit_rpm: 6_000 });
    assert.deepEqual(await listed(), { ...earlier, rate_limit_rpm: 6_000 });
  });

  it('200 extending the expiry of an expired key', async () => {
    const account = await signUpForKeys(api);
    const key = await mintKey(account, { expires_at: '2099-01-01T00:00:00Z' });
    await runSql(api.owner)`UPDATE api_keys SET expires_at = '2020-01-01' WHERE id = ${key.id}`;
    const { expires_at } = await update(account, key.id, { rate_limit_rpm: 60, expires_at: 253_402_300_799 });
    assert.equal(expires_at, '9999-12-31T23:59:59.000000+00:00');
  });

  it('404 alike for a key that is foreign, unknown, malformed or revoked, and nothing is changed', async () => {
    const [account, stranger] = [await signUpForKeys(api), await signUpForKeys(api)];
    const [foreign, own] = [await mintKey(stranger), await mintKey(account)];
    await account.client.call(keys.revokeKey, { params: { key_id: own.id } });
    const settings = () => runSql(api.database)`
      SELECT rate_limit_rpm, credit_limit_micro_pkr FROM api_keys WHERE id = ANY (${[foreign.id, own.id]})`;
    const earlier = await settings();
    const replies = [];
    for (const key_id of [foreign.id, randomUUID(), own.id, 'not-a-uuid', `{${own.id}}`, `${own.id}\u0000`]) {
      // The key is checked before the settings.
      const body = { rate_limit_rpm: 1e9, credit_limit_pkr: 1e9, expires_at: 1 };
      const reply = await account.client.send(keys.updateKey, { params: { key_id }, body });
      assert.equal(reply.status, 404, key_id);
      replies.push(comparable(reply));
    }
    for (const reply of replies) assert.deepEqual(reply, replies[0]);
    assert.equal(replies[0]?.text, '{"error":"Key not found."}');
    assert.deepEqual(await settings(), earlier);
    for (const { client } of [account, stranger])
      assert.deepEqual(await eventsOf({ ...account, client }, 'api_key.updated'), []);
  });
});
