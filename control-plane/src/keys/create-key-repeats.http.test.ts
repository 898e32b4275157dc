import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { keys } from '@gatehouse/contract';
import { sql, statement } from '@gatehouse/store';
import { countKeys, eventsOf, signUpForKeys } from '../testing/key-account.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';
import { sweepIdempotencyKeys } from './sweep.ts';

const ageIdempotencyKeys = statement<{ organizationId: string; age: string }>(
  'test-age-idempotency-keys',
  sql`UPDATE idempotency_keys SET created_at = created_at - ${'age'}::interval
      WHERE organization_id = ${'organizationId'}`,
);

const listIdempotencyKeys = statement<{ organizationId: string }, { idempotencyKey: string }>(
  'test-list-idempotency-keys',
  sql`SELECT idempotency_key FROM idempotency_keys WHERE organization_id = ${'organizationId'}`,
);

describe('POST /keys with an Idempotency-Key', () => {
  let api: TestApi;
  before(async () => {
    api = await startTestApi();
  });
  after(() => api?.[Symbol.asyncDispose]());

  it('409 for a repeat with the same Idempotency-Key, naming the prefix and never the secret', async () => {
    const [account, other] = [await signUpForKeys(api), await signUpForKeys(api)];
    const headers = { 'idempotency-key': 'order 66 ~' };
    const given = { body: { project_id: account.projectId, name: 'k' }, headers };
    // A failed request mints nothing, so it does not use up the Idempotency-Key.
    await account.client.refused(keys.createKey, 400, {
      body: { ...given.body, allowed_models: ['nope'] },
      headers,
    });
    const key = await account.client.call(keys.createKey, given);
    const repeat = await account.client.send(keys.createKey, given);
    assert.equal(repeat.status, 409);
    assert.ok(repeat.text.includes(key.key_prefix));
    assert.ok(!repeat.text.includes(key.api_key));
    // The first reply may have been lost, so a repeat gets the 409 whatever has changed since.
    await account.client.call(keys.revokeKey, { params: { key_id: key.id } });
    await account.client.refused(keys.createKey, 409, {
      ...given,
      body: { ...given.body, expires_at: '2020-01-01T00:00:00Z' },
    });
    assert.equal(await countKeys(api, account), 1);
    assert.equal((await eventsOf(account, 'api_key.created')).length, 1);

    await other.client.call(keys.createKey, { body: { project_id: other.projectId, name: 'k' }, headers });
    await account.client.call(keys.createKey, { ...given, headers: { 'idempotency-key': 'Order 66 ~' } });
  });

  it('409 that distinguishes a repeat from another request; both name the prefix, also of a revoked key', async () => {
    const account = await signUpForKeys(api);
    const headers = { 'idempotency-key': 'which' };
    const body = { project_id: account.projectId, name: 'k', credit_limit_cents: 5 };
    const key = await account.client.call(keys.createKey, { body, headers });
    const same = `This request has minted the key ${key.key_prefix} already; its secret was in that reply only.`;
    const other = `This Idempotency-Key belongs to another request, which minted the key ${key.key_prefix}; use a new one for this request.`;
    const refused = async (given: object) =>
      (await account.client.refused(keys.createKey, 409, { body: given, headers }))['error'];
    for (const revoke of [false, true]) {
      if (revoke) await account.client.call(keys.revokeKey, { params: { key_id: key.id } });
      // Explicit defaults, whitespace around the name and ignored fields make no other request.
      assert.equal(await refused(body), same);
      assert.equal(await refused({ environment: 'production', ...body, name: ' k ', ignored: 1 }), same);
      assert.equal(await refused({ ...body, credit_limit_cents: 6 }), other);
      assert.equal(await refused({ ...body, name: 'K' }), other);
    }
    assert.equal(await countKeys(api, account), 1);
  });

  it('201 again with an Idempotency-Key from 24 hours ago, whose 24 hours then start again', async () => {
    const account = await signUpForKeys(api);
    const { organizationId } = account;
    const given = {
      body: { project_id: account.projectId, name: 'k' },
      headers: { 'idempotency-key': 'daily' },
    };
    await account.client.call(keys.createKey, given);
    await api.database.run(ageIdempotencyKeys, { organizationId, age: '23 hours 59 minutes' });
    await account.client.refused(keys.createKey, 409, given);
    await api.database.run(ageIdempotencyKeys, { organizationId, age: '1 minute' });
    const second = await account.client.call(keys.createKey, given);
    const refused = await account.client.refused(keys.createKey, 409, given);
    assert.ok(String(refused['error']).includes(second.key_prefix));
    assert.equal(await countKeys(api, account), 2);
  });

  it('409 for a repeat within 24 hours after a sweep, which deletes only older keys', async () => {
    const account = await signUpForKeys(api);
    const { organizationId } = account;
    const body = { project_id: account.projectId, name: 'k' };
    const given = (key: string) => ({ body, headers: { 'idempotency-key': key } });
    await account.client.call(keys.createKey, given('old'));
    await api.database.run(ageIdempotencyKeys, { organizationId, age: '24 hours' });
    await account.client.call(keys.createKey, given('young'));
    await sweepIdempotencyKeys(api.database);
    await account.client.refused(keys.createKey, 409, given('young'));
    const kept = await api.database.many(listIdempotencyKeys, { organizationId });
    assert.deepEqual(kept, [{ idempotencyKey: 'young' }]);
  });

  it('400 for an Idempotency-Key that is empty, too long, not ASCII or has a tab', async () => {
    const account = await signUpForKeys(api);
    for (const header of ['', 'x'.repeat(256), 'caf\u00e9', 'a\tb']) {
      const body = await account.client.refused(keys.createKey, 400, {
        body: { project_id: account.projectId, name: 'k' },
        headers: { 'idempotency-key': header },
      });
      assert.deepEqual(
        (body['detail'] as { loc: string[] }[])[0]?.loc,
        ['header', 'idempotency-key'],
        header,
      );
    }
    assert.equal(await countKeys(api, account), 0);
  });

  it('201 once and 409 otherwise for 32 concurrent repeats', async () => {
    const account = await signUpForKeys(api);
    const replies = await Promise.all(
      Array.from({ length: 32 }, () =>
        account.client.copy().send(keys.createKey, {
          body: { project_id: account.projectId, name: 'k' },
          headers: { 'idempotency-key': 'once' },
        }),
      ),
    );
    const statuses = replies.map((reply) => reply.status).sort();
    assert.deepEqual(statuses, [201, ...Array(31).fill(409)]);
    assert.equal(await countKeys(api, account), 1);
    assert.equal((await eventsOf(account, 'api_key.created')).length, 1);
  });
});
