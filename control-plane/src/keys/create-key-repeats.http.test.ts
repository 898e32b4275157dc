import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { keys } from '@gatehouse/contract';
import { statement } from '@gatehouse/store';
import { countKeys, eventsOf, signUpForKeys } from '../testing/key-account.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';
import { sweepIdempotencyKeys } from './sweep.ts';

const ageIdempotencyKeys = statement(
  'test-age-idempotency-keys',
  `UPDATE idempotency_keys SET created_at = created_at - $2::interval WHERE organization_id = $1`,
);

const listIdempotencyKeys = statement<{ idempotency_key: string }>(
  'test-list-idempotency-keys',
  `SELECT idempotency_key FROM idempotency_keys WHERE organization_id = $1`,
);

describe('POST /keys with an Idempotency-Key', () => {
  let api: TestApi;
  before(async () => {
    api = await startTestApi();
  });
  after(() => api[Symbol.asyncDispose]());

  it('409 for a repeat with the same Idempotency-Key, naming the prefix and never the secret', async () => {
    const [account, other] = [await signUpForKeys(api), await signUpForKeys(api)];
    const headers = { 'idempotency-key': 'order 66 ~' };
    const given = { body: { project_id: account.projectId, name: 'k' }, headers };
    // A request that is refused has minted nothing, so it does not use the key up.
    await account.client.refused(keys.createKey, 400, {
      body: { ...given.body, allowed_models: ['nope'] },
      headers,
    });
    const key = await account.client.call(keys.createKey, given);
    const repeat = await account.client.send(keys.createKey, given);
    assert.equal(repeat.status, 409);
    assert.ok(repeat.text.includes(key.key_prefix));
    assert.ok(!repeat.text.includes(key.api_key));
    // The first answer may be what was lost, so whatever has changed since, the repeat is told of it.
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

  it('409 that tells a repeat from another request, both naming the prefix, whatever the key has become', async () => {
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
      // Defaults spelled out, blanks around the name and other spellings of a value are the same request.
      assert.equal(await refused(body), same);
      assert.equal(await refused({ environment: 'production', ...body, name: ' k ', ignored: 1 }), same);
      assert.equal(await refused({ ...body, credit_limit_cents: 6 }), other);
      assert.equal(await refused({ ...body, name: 'K' }), other);
    }
    assert.equal(await countKeys(api, account), 1);
  });

  it('201 again with an Idempotency-Key from 24 hours ago, which then counts from now', async () => {
    const account = await signUpForKeys(api);
    const given = {
      body: { project_id: account.projectId, name: 'k' },
      headers: { 'idempotency-key': 'daily' },
    };
    await account.client.call(keys.createKey, given);
    await api.database.run(ageIdempotencyKeys, [account.organizationId, '23 hours 59 minutes']);
    await account.client.refused(keys.createKey, 409, given);
    await api.database.run(ageIdempotencyKeys, [account.organizationId, '1 minute']);
    const second = await account.client.call(keys.createKey, given);
    const refused = await account.client.refused(keys.createKey, 409, given);
    assert.ok(String(refused['error']).includes(second.key_prefix));
    assert.equal(await countKeys(api, account), 2);
  });

  it('409 for a repeat within the day after a sweep, which removes only what is older', async () => {
    const account = await signUpForKeys(api);
    const body = { project_id: account.projectId, name: 'k' };
    const given = (key: string) => ({ body, headers: { 'idempotency-key': key } });
    await account.client.call(keys.createKey, given('old'));
    await api.database.run(ageIdempotencyKeys, [account.organizationId, '24 hours']);
    await account.client.call(keys.createKey, given('young'));
    await sweepIdempotencyKeys(api.database);
    await account.client.refused(keys.createKey, 409, given('young'));
    const kept = await api.database.many(listIdempotencyKeys, [account.organizationId]);
    assert.deepEqual(kept, [{ idempotency_key: 'young' }]);
  });

  for (const [what, header] of [
    ['empty', ''],
    ['longer than 255 characters', 'x'.repeat(256)],
    ['beyond ASCII', 'caf\u00e9'],
    ['with a tab', 'a\tb'],
  ] as const) {
    it(`400 with the fault for an Idempotency-Key that is ${what}`, async () => {
      const account = await signUpForKeys(api);
      const body = await account.client.refused(keys.createKey, 400, {
        body: { project_id: account.projectId, name: 'k' },
        headers: { 'idempotency-key': header },
      });
      assert.deepEqual((body['detail'] as { loc: string[] }[])[0]?.loc, ['header', 'idempotency-key']);
      assert.equal(await countKeys(api, account), 0);
    });
  }

  it('201 once and 409 otherwise for 32 repeats at the same time', async () => {
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
