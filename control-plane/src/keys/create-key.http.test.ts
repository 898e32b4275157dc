import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import {
  activity,
  auth,
  hashGatewayKey,
  isWellFormedGatewayKey,
  keys,
  MAX_ALLOWED_MODELS,
  MAX_ROUTE_ID_LENGTH,
  organization,
} from '@gatehouse/contract';
import { statement } from '@gatehouse/store';
import { addRoute } from '../testing/add-route.ts';
import { comparable } from '../testing/comparable.ts';
import { holdOrganization, waitingForLocks } from '../testing/hold-organization.ts';
import { type SignedUp, startTestApi, TEST_PASSWORD, type TestApi } from '../testing/test-api.ts';

const storedKey = statement<{ secret_hash: Buffer; everything: string }>(
  'test-stored-key',
  `SELECT secret_hash, row_to_json(k)::text AS everything FROM api_keys k WHERE id = $1`,
);
const countKeys = statement<{ keys: bigint }>(
  'test-count-keys',
  `SELECT count(*) AS keys FROM api_keys WHERE organization_id = $1`,
);
const ageIdempotencyKeys = statement(
  'test-age-idempotency-keys',
  `UPDATE idempotency_keys SET created_at = created_at - $2::interval WHERE organization_id = $1`,
);
const databaseTime = statement<{ now: string }>('test-database-time', `SELECT clock_timestamp() AS now`);

describe('POST /keys', () => {
  let api: TestApi;
  before(async () => {
    api = await startTestApi();
    await addRoute(api.database, 'a/one');
    await addRoute(api.database, 'a/two');
    await addRoute(api.database, 'a/asleep', { isActive: false });
  });
  after(() => api[Symbol.asyncDispose]());

  async function signUp(): Promise<SignedUp & { projectId: string }> {
    const account = await api.signUp();
    const { projects } = await account.client.call(organization.listProjects);
    return { ...account, projectId: projects[0]?.id ?? assert.fail('no first project') };
  }

  const createdEvents = async ({ client }: SignedUp) =>
    (await client.call(activity.listActivity, { query: { limit: 200 } })).events.filter(
      (event) => event.action === 'api_key.created',
    );

  const countOf = async ({ organizationId }: SignedUp) =>
    Number((await api.database.one(countKeys, [organizationId]))?.keys);

  it('201 with exactly the fields of the specification and the defaults', async () => {
    const account = await signUp();
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
    const [event, ...more] = await createdEvents(account);
    assert.equal(event?.target, key_prefix);
    assert.equal(event.actor, account.email);
    assert.equal(more.length, 0);
    assert.equal((await account.client.call(keys.listKeys)).keys[0]?.id, id);
  });

  it('201 with every limit as it was given, the models without repeats in their order', async () => {
    const account = await signUp();
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
    const account = await signUp();
    const body = { project_id: account.projectId, name: 'k', credit_limit_cents: 1 };
    assert.equal((await account.client.call(keys.createKey, { body })).credit_limit_cents, 1);
  });

  it('201 with null as good as left out', async () => {
    const account = await signUp();
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
    const [account, other] = [await signUp(), await signUp()];
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
    assert.equal(await countOf(other), 0);
    assert.equal(await countOf(account), 1);
  });

  it('201 with a secret of which nothing is kept but its hash', async () => {
    const account = await signUp();
    const key = await account.client.call(keys.createKey, {
      body: { project_id: account.projectId, name: 'k' },
      headers: { 'idempotency-key': randomUUID() },
    });
    const stored = await api.database.one(storedKey, [key.id]);
    assert.deepEqual(stored?.secret_hash, hashGatewayKey(key.api_key));
    const hidden = key.api_key.slice(key.key_prefix.length);
    assert.ok(!stored.everything.includes(hidden));
    assert.ok(!JSON.stringify(api.logLines).includes(hidden));
    for (const endpoint of [keys.listKeys, activity.listActivity]) {
      const { text } = await account.client.send(endpoint);
      assert.ok(!text.includes(hidden) && !text.includes(stored.secret_hash.toString('hex')));
    }
  });

  it('401 without a session, whatever else is wrong', async () => {
    const refused = await api.anonymous().refused(keys.createKey, 401, { body: { name: '' } });
    assert.deepEqual(refused, { detail: 'Unauthorized' });
  });

  const valid = { name: 'k' };
  const wrongShapes: [what: string, body: Record<string, unknown>][] = [
    ['no name', { name: undefined }],
    ['a blank name', { name: ' \t ' }],
    ['a name of 256 characters', { name: 'x'.repeat(256) }],
    ['a name with a control character', { name: 'a\u0007b' }],
    ['a name with U+0000', { name: 'a\u0000b' }],
    ['a name with half a surrogate pair', { name: '\ud800' }],
    ['a number as project', { project_id: 7 }],
    ...[
      '2027-02-31T00:00:00Z',
      '2027',
      '0',
      '',
      'Jan 1 2099',
      '2099-01-01T00:00:00',
      '2099-01-01',
      '+275760-09-13T00:00:00Z',
      '2099-01-01T24:00:00Z',
      '2099-01-01T00:00:60Z',
      4_070_908_800,
      true,
    ].map((value): [string, Record<string, unknown>] => [
      `expires_at ${JSON.stringify(value)}`,
      { expires_at: value },
    ]),
    ...[0, -1, 1.5, '5', true, 2 ** 53, []].map((value): [string, Record<string, unknown>] => [
      `credit_limit_cents ${JSON.stringify(value)}`,
      { credit_limit_cents: value },
    ]),
    ['an empty list of models', { allowed_models: [] }],
    ['a model that is no text', { allowed_models: [1] }],
    ['one text for the list of models', { allowed_models: 'a/one' }],
    ['a model with U+0000', { allowed_models: ['a\u0000'] }],
    ['a model that is too long', { allowed_models: ['x'.repeat(MAX_ROUTE_ID_LENGTH + 1)] }],
    ['too many models', { allowed_models: Array(MAX_ALLOWED_MODELS + 1).fill('a/one') }],
    ['an unknown environment', { environment: 'staging' }],
    ['an environment in capitals', { environment: 'Production' }],
  ];
  for (const [what, wrong] of wrongShapes) {
    it(`400 with the faults for ${what}`, async () => {
      const account = await signUp();
      const body = await account.client.refused(keys.createKey, 400, {
        body: { project_id: account.projectId, ...valid, ...wrong },
      });
      const faults = (body['detail'] as { loc: string[] }[]).map(({ loc }) => loc.slice(0, 2).join(' '));
      assert.deepEqual(
        [...new Set(faults)],
        Object.keys(wrong).map((name) => `body ${name}`),
      );
      assert.equal(await countOf(account), 0);
    });
  }

  it('400 with the fault for a number past what JSON numbers hold', async () => {
    const account = await signUp();
    for (const number of ['1e400', '9007199254740993']) {
      const reply = await account.client.raw({
        method: 'POST',
        path: '/api/keys',
        headers: {
          'content-type': 'application/json',
          cookie: [...account.client.cookies].map((pair) => pair.join('=')).join('; '),
        },
        body: `{"project_id":"${account.projectId}","name":"k","credit_limit_cents":${number}}`,
      });
      assert.equal(reply.status, 400);
      assert.ok('detail' in JSON.parse(reply.text));
    }
  });

  it('400 with every fault at once', async () => {
    const { client } = await signUp();
    const body = await client.refused(keys.createKey, 400, {
      body: { name: '', expires_at: 'x', credit_limit_cents: 0, allowed_models: [], environment: '' },
    });
    assert.equal((body['detail'] as unknown[]).length, 6);
  });

  it('400 with the sentence when expires_at is past, or is now by the clock of the database', async () => {
    const account = await signUp();
    const now = (await api.database.one(databaseTime))?.now ?? assert.fail('no time');
    for (const [given, named] of [
      ['2020-01-01T05:00:00+05:00', '2020-01-01T00:00:00.000000+00:00'],
      ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000000+00:00'],
      [now, now],
    ] as const) {
      assert.deepEqual(
        await account.client.refused(keys.createKey, 400, {
          body: { project_id: account.projectId, name: 'k', expires_at: given },
        }),
        { error: `expires_at must be in the future, which ${named} is not.` },
      );
    }
    assert.equal(await countOf(account), 0);
  });

  it('400 with the sentence for models that are unknown or inactive, naming them', async () => {
    const account = await signUp();
    const refused = (allowed_models: string[]) =>
      account.client.refused(keys.createKey, 400, {
        body: { project_id: account.projectId, name: 'k', allowed_models },
      });
    assert.deepEqual(await refused(['a/one', 'nope', 'a/asleep', 'nope']), {
      error: "allowed_models: no active route has the id 'nope', 'a/asleep'.",
    });
    for (const near of ['A/one', 'a/one ', 'a/on%', "a/one' OR '1'='1"]) {
      assert.match(String((await refused([near]))['error']), /no active route/);
    }
    assert.equal(await countOf(account), 0);
    assert.deepEqual(await createdEvents(account), []);
  });

  it('400 within 1 KiB however many and long the unknown models are', async () => {
    const account = await signUp();
    const reply = await account.client.send(keys.createKey, {
      body: {
        project_id: account.projectId,
        name: 'k',
        allowed_models: Array.from({ length: MAX_ALLOWED_MODELS }, (_, index) =>
          `<img onerror="${index}">`.padEnd(MAX_ROUTE_ID_LENGTH, '<'),
        ),
      },
    });
    assert.equal(reply.status, 400);
    assert.ok(Buffer.byteLength(reply.text) <= 1024, `${Buffer.byteLength(reply.text)} bytes`);
  });

  it('404 alike for a project that is foreign, unknown or malformed', async () => {
    const [account, other] = [await signUp(), await signUp()];
    const replies = [];
    for (const project_id of [
      other.projectId,
      randomUUID(),
      'not-a-uuid',
      '',
      `{${account.projectId}}`,
      account.projectId.replaceAll('-', ''),
      `${account.projectId} `,
    ]) {
      const reply = await account.client.send(keys.createKey, { body: { project_id, name: 'k' } });
      assert.equal(reply.status, 404);
      replies.push(comparable(reply));
    }
    for (const reply of replies) assert.deepEqual(reply, replies[0]);
    assert.equal(replies[0]?.text, '{"error":"Project not found."}');
    assert.equal(await countOf(other), 0);
    assert.deepEqual(await createdEvents(account), []);
  });

  it('404 before 400 for what is wrong besides, the expiry before the models, the shape before all', async () => {
    const account = await signUp();
    const wrong = {
      name: 'k',
      project_id: randomUUID(),
      expires_at: '2020-01-01T00:00:00Z',
      allowed_models: ['nope'],
    };
    const refused = (status: number, body: object) =>
      account.client.refused(keys.createKey, status, { body });
    assert.ok('detail' in (await refused(400, { ...wrong, name: '' })));
    assert.deepEqual(await refused(404, wrong), { error: 'Project not found.' });
    const owned = { ...wrong, project_id: account.projectId };
    assert.match(String((await refused(400, owned))['error']), /^expires_at/);
    assert.match(String((await refused(400, { ...owned, expires_at: null }))['error']), /^allowed_models/);
  });

  it('409 for a repeat with the same Idempotency-Key, naming the prefix and never the secret', async () => {
    const [account, other] = [await signUp(), await signUp()];
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
    assert.equal(await countOf(account), 1);
    assert.equal((await createdEvents(account)).length, 1);

    await other.client.call(keys.createKey, { body: { project_id: other.projectId, name: 'k' }, headers });
    await account.client.call(keys.createKey, { ...given, headers: { 'idempotency-key': 'Order 66 ~' } });
  });

  it('201 again with an Idempotency-Key from 24 hours ago, which then counts from now', async () => {
    const account = await signUp();
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
    assert.equal(await countOf(account), 2);
  });

  for (const [what, header] of [
    ['empty', ''],
    ['longer than 255 characters', 'x'.repeat(256)],
    ['beyond ASCII', 'caf\u00e9'],
    ['with a tab', 'a\tb'],
  ] as const) {
    it(`400 with the fault for an Idempotency-Key that is ${what}`, async () => {
      const account = await signUp();
      const body = await account.client.refused(keys.createKey, 400, {
        body: { project_id: account.projectId, name: 'k' },
        headers: { 'idempotency-key': header },
      });
      assert.deepEqual((body['detail'] as { loc: string[] }[])[0]?.loc, ['header', 'idempotency-key']);
      assert.equal(await countOf(account), 0);
    });
  }

  it('201 once and 409 otherwise for 32 repeats at the same time', async () => {
    const account = await signUp();
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
    assert.equal(await countOf(account), 1);
    assert.equal((await createdEvents(account)).length, 1);
  });

  it('201 for each of 64 at the same time, each with a secret and an event of its own', async () => {
    const account = await signUp();
    const minted = await Promise.all(
      Array.from({ length: 64 }, (_, index) =>
        account.client.copy().call(keys.createKey, {
          body: { project_id: account.projectId, name: `k${index}` },
        }),
      ),
    );
    assert.equal(new Set(minted.map((key) => key.api_key)).size, 64);
    const targets = (await createdEvents(account)).map((event) => event.target);
    assert.deepEqual(targets.sort(), minted.map((key) => key.key_prefix).sort());
    assert.equal((await account.client.call(keys.listKeys)).keys.length, 64);
  });

  it('201 only once no one else holds the organisation, which a sign-in does not wait for', async () => {
    const account = await signUp();
    const held = await holdOrganization(api.database, account.organizationId);
    const pending = account.client.call(keys.createKey, {
      body: { project_id: account.projectId, name: 'k' },
    });
    await waitingForLocks(api.database, 1);
    await api.anonymous().call(auth.login, { body: { email: account.email, password: TEST_PASSWORD } });
    assert.equal(await countOf(account), 0);
    await held.release();
    await pending;
    assert.equal(await countOf(account), 1);
  });

  it('201 that nobody reads leaves a key that is listed and can be revoked', async () => {
    const account = await signUp();
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
    assert.equal((await createdEvents(account)).length, 1);
    await account.client.call(keys.revokeKey, { params: { key_id: key.id } });
  });
});
