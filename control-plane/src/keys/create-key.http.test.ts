import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { activity, auth, hashGatewayKey, isWellFormedGatewayKey, keys } from '@gatehouse/contract';
import { addRoute } from '../testing/add-route.ts';
import { dumpTables } from '../testing/dump-tables.ts';
import { holdOrganization, waitingForLocks } from '../testing/hold-organization.ts';
import { cookieOf, countKeys, eventsOf, mintKey, sendText, signUpForKeys } from '../testing/key-account.ts';
import { startTestApi, TEST_PASSWORD, type TestApi } from '../testing/test-api.ts';

describe('POST /keys', () => {
  let api: TestApi;
  before(async () => {
    api = await startTestApi();
    await addRoute(api.database, 'a/one');
    await addRoute(api.database, 'a/two');
  });
  after(() => api?.[Symbol.asyncDispose]());

  it('201 with exactly the fields of the specification and the defaults', async () => {
    const account = await signUpForKeys(api);
    const { api_key, id, key_prefix, ...others } = await mintKey(account, { name: '  backend ' });
    assert.ok(isWellFormedGatewayKey(api_key));
    assert.equal(key_prefix, api_key.slice(0, 'sk_svc_'.length + 8));
    assert.deepEqual(others, {
      name: 'backend',
      project_id: account.projectId,
      rate_limit_rpm: 60,
      expires_at: null,
      credit_limit_cents: null,
      allowed_models: null,
      environment: 'production',
      enforcement_status: {
        expires_at: 'enforced',
        credit_limit_cents: 'enforced',
        allowed_models: 'enforced',
      },
    });
    const [event, ...more] = await eventsOf(account, 'api_key.created');
    assert.equal(event?.target, key_prefix);
    assert.equal(event.actor, account.email);
    assert.equal(more.length, 0);
    assert.equal((await account.client.call(keys.listKeys)).keys[0]?.id, id);
  });

  it('201 with every setting as given, and the models in order without repeats', async () => {
    const account = await signUpForKeys(api);
    const key = await mintKey(account, {
      project_id: account.projectId.toUpperCase(),
      name: '😀'.repeat(255),
      expires_at: '2099-12-31T23:59:59.123456789+05:00',
      credit_limit_cents: Number.MAX_SAFE_INTEGER,
      allowed_models: ['a/two', 'a/one', 'a/two', 'a/one'],
      environment: 'testing',
    });
    assert.equal(key.project_id, account.projectId);
    assert.equal(key.expires_at, '2099-12-31T18:59:59.123456+00:00');
    assert.equal(key.credit_limit_cents, Number.MAX_SAFE_INTEGER);
    assert.deepEqual(key.allowed_models, ['a/two', 'a/one']);
    assert.equal(key.environment, 'testing');
    assert.equal(key.name, '😀'.repeat(255));
  });

  it('201 with null meaning no limit, and 1 meaning one micro-PKR', async () => {
    const account = await signUpForKeys(api);
    const none = { expires_at: null, credit_limit_cents: null, allowed_models: null };
    const { expires_at, credit_limit_cents, allowed_models } = await mintKey(account, none);
    assert.deepEqual({ expires_at, credit_limit_cents, allowed_models }, none);
    assert.equal((await mintKey(account, { credit_limit_cents: 1 })).credit_limit_cents, 1);
  });

  it('201 ignoring fields that are no input', async () => {
    const [account, other] = [await signUpForKeys(api), await signUpForKeys(api)];
    const { status, body: key } = await sendText(
      account,
      'POST',
      '/keys',
      `{"project_id":"${account.projectId}","name":"k","rate_limit_rpm":999999,
        "organization_id":"${other.organizationId}","user_id":"${other.userId}","spent_micro_pkr":-1,
        "key_prefix":"sk_svc_AAAAAAAA","api_key":"mine","__proto__":{"environment":"testing"}}`,
    );
    assert.deepEqual([status, key['rate_limit_rpm'], key['environment']], [201, 60, 'production']);
    assert.notEqual(key['key_prefix'], 'sk_svc_AAAAAAAA');
    assert.equal(await countKeys(api, other), 0);
    assert.equal(await countKeys(api, account), 1);
  });

  it('201 with a secret of which only the hash is stored', async () => {
    const account = await signUpForKeys(api);
    const key = await account.client.call(keys.createKey, {
      body: { project_id: account.projectId, name: 'k' },
      headers: { 'idempotency-key': randomUUID() },
    });
    const hidden = key.api_key.slice(key.key_prefix.length);
    const hash = hashGatewayKey(key.api_key).toString('hex');
    const dump = await dumpTables(api.database);
    assert.ok(dump.includes(hash) && !dump.includes(hidden));
    assert.ok(!JSON.stringify(api.logLines).includes(hidden));
    for (const endpoint of [keys.listKeys, activity.listActivity]) {
      const { text } = await account.client.send(endpoint);
      assert.ok(!text.includes(hidden) && !text.includes(hash));
    }
  });

  it('201 for each of 64 concurrent requests, each with its own secret and event', async () => {
    const account = await signUpForKeys(api);
    const minted = await Promise.all(
      Array.from({ length: 64 }, (_, index) =>
        mintKey({ ...account, client: account.client.copy() }, { name: `k${index}` }),
      ),
    );
    assert.equal(new Set(minted.map((key) => key.api_key)).size, 64);
    const targets = (await eventsOf(account, 'api_key.created')).map((event) => event.target);
    assert.deepEqual(targets.sort(), minted.map((key) => key.key_prefix).sort());
    assert.equal((await account.client.call(keys.listKeys)).keys.length, 64);
  });

  it('201 only after the lock of the organisation is released; a sign-in does not wait for it', async () => {
    const account = await signUpForKeys(api);
    const held = await holdOrganization(api.database, account.organizationId);
    const pending = mintKey(account);
    await waitingForLocks(api.database, 1);
    await api.anonymous().call(auth.login, { body: { email: account.email, password: TEST_PASSWORD } });
    assert.equal(await countKeys(api, account), 0);
    await held.release();
    await pending;
    assert.equal(await countKeys(api, account), 1);
  });

  it('201 that the caller does not read leaves a key that is listed and can be revoked', async () => {
    const account = await signUpForKeys(api);
    const held = await holdOrganization(api.database, account.organizationId);
    const body = JSON.stringify({ project_id: account.projectId, name: 'lost' });
    const socket = connect(api.port, '127.0.0.1');
    socket.write(
      `POST /api/keys HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nCookie: ${cookieOf(account)}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await waitingForLocks(api.database, 1);
    socket.destroy();
    const behind = holdOrganization(api.database, account.organizationId);
    await waitingForLocks(api.database, 2);
    await held.release();
    // Locks are granted in order, so the mint has finished.
    await (await behind).release();

    const [key] = (await account.client.call(keys.listKeys)).keys;
    assert.equal(key?.name, 'lost');
    assert.equal((await eventsOf(account, 'api_key.created')).length, 1);
    await account.client.call(keys.revokeKey, { params: { key_id: key.id } });
  });
});
