import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { activity, auth, hashGatewayKey, isWellFormedGatewayKey, keys } from '@gatehouse/contract';
import { addRoute } from '../testing/add-route.ts';
import { holdOrganization, waitingForLocks } from '../testing/hold-organization.ts';
import { countKeys, eventsOf, signUpForKeys } from '../testing/key-account.ts';
import { dumpTables } from '../testing/sql.ts';
import { startTestApi, TEST_PASSWORD, type TestApi } from '../testing/test-api.ts';

describe('POST /keys', () => {
  let api: TestApi;
  before(async () => {
    api = await startTestApi();
    await addRoute(api.database, 'a/one');
    await addRoute(api.database, 'a/two');
  });
  after(() => api[Symbol.asyncDispose]());

  it('201 with exactly the fields of the specification and the defaults', async () => {
    const account = await signUpForKeys(api);
    const { api_key, id, key_prefix, ...others } = await account.client.call(keys.createKey, {
      body: { project_id: account.projectId, name: '  backend ' },
    });
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

  it('201 with every limit as it was given, the models without repeats in their order', async () => {
    const account = await signUpForKeys(api);
    const key = await account.client.call(keys.createKey, {
      body: {
        project_id: account.projectId.toUpperCase(),
        name: '😀'.repeat(255),
        expires_at: '2099-12-31T23:59:59.123456789+05:00',
        credit_limit_cents: Number.MAX_SAFE_INTEGER,
        allowed_models: ['a/two', 'a/one', 'a/two', 'a/one'],
        environment: 'testing',
      },
    });
    assert.equal(key.project_id, account.projectId);
    assert.equal(key.expires_at, '2099-12-31T18:59:59.123456+00:00');
    assert.equal(key.credit_limit_cents, Number.MAX_SAFE_INTEGER);
    assert.deepEqual(key.allowed_models, ['a/two', 'a/one']);
    assert.equal(key.environment, 'testing');
    assert.equal(key.name, '😀'.repeat(255));
  });

  it('201 with a limit of one micro-PKR, which is not none', async () => {
    const account = await signUpForKeys(api);
    const body = { project_id: account.projectId, name: 'k', credit_limit_cents: 1 };
    assert.equal((await account.client.call(keys.createKey, { body })).credit_limit_cents, 1);
  });

  it('201 with null as good as left out', async () => {
    const account = await signUpForKeys(api);
    const key = await account.client.call(keys.createKey, {
      body: {
        project_id: account.projectId,
        name: 'k',
        expires_at: null,
        credit_limit_cents: null,
        allowed_models: null,
      },
    });
    assert.deepEqual([key.expires_at, key.credit_limit_cents, key.allowed_models], [null, null, null]);
  });

  it('201 and nothing bound that is no input', async () => {
    const [account, other] = [await signUpForKeys(api), await signUpForKeys(api)];
    const reply = await account.client.raw({
      method: 'POST',
      path: '/api/keys',
      headers: {
        'content-type': 'application/json',
        cookie: [...account.client.cookies].map((pair) => pair.join('=')).join('; '),
      },
      body: `{"project_id":"${account.projectId}","name":"k","rate_limit_rpm":999999,
              "organization_id":"${other.organizationId}","user_id":"${other.userId}","spent_micro_pkr":-1,
              "key_prefix":"sk_svc_AAAAAAAA","api_key":"mine","__proto__":{"environment":"testing"}}`,
    });
    assert.equal(reply.status, 201);
    const key = JSON.parse(reply.text);
    assert.equal(key.rate_limit_rpm, 60);
    assert.equal(key.environment, 'production');
    assert.notEqual(key.key_prefix, 'sk_svc_AAAAAAAA');
    assert.equal(await countKeys(api, other), 0);
    assert.equal(await countKeys(api, account), 1);
  });

  it('201 with a secret of which nothing is kept but its hash', async () => {
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

  it('201 for each of 64 at the same time, each with a secret and an event of its own', async () => {
    const account = await signUpForKeys(api);
    const minted = await Promise.all(
      Array.from({ length: 64 }, (_, index) =>
        account.client.copy().call(keys.createKey, {
          body: { project_id: account.projectId, name: `k${index}` },
        }),
      ),
    );
    assert.equal(new Set(minted.map((key) => key.api_key)).size, 64);
    const targets = (await eventsOf(account, 'api_key.created')).map((event) => event.target);
    assert.deepEqual(targets.sort(), minted.map((key) => key.key_prefix).sort());
    assert.equal((await account.client.call(keys.listKeys)).keys.length, 64);
  });

  it('201 only once no one else holds the organisation, which a sign-in does not wait for', async () => {
    const account = await signUpForKeys(api);
    const held = await holdOrganization(api.database, account.organizationId);
    const pending = account.client.call(keys.createKey, {
      body: { project_id: account.projectId, name: 'k' },
    });
    await waitingForLocks(api.database, 1);
    await api.anonymous().call(auth.login, { body: { email: account.email, password: TEST_PASSWORD } });
    assert.equal(await countKeys(api, account), 0);
    await held.release();
    await pending;
    assert.equal(await countKeys(api, account), 1);
  });

  it('201 that nobody reads leaves a key that is listed and can be revoked', async () => {
    const account = await signUpForKeys(api);
    const held = await holdOrganization(api.database, account.organizationId);
    const body = JSON.stringify({ project_id: account.projectId, name: 'lost' });
    const socket = connect(api.port, '127.0.0.1');
    socket.write(
      `POST /api/keys HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nCookie: ${[...account.client.cookies].map((pair) => pair.join('=')).join('; ')}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await waitingForLocks(api.database, 1);
    socket.destroy();
    const behind = holdOrganization(api.database, account.organizationId);
    await waitingForLocks(api.database, 2);
    await held.release();
    // Whoever waited before us is done once the lock is ours.
    await (await behind).release();

    const [key] = (await account.client.call(keys.listKeys)).keys;
    assert.equal(key?.name, 'lost');
    assert.equal((await eventsOf(account, 'api_key.created')).length, 1);
    await account.client.call(keys.revokeKey, { params: { key_id: key.id } });
  });
});
