import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { keys, MAX_ALLOWED_MODELS, MAX_ROUTE_ID_LENGTH } from '@gatehouse/contract';
import { statement } from '@gatehouse/store';
import { addRoute } from '../testing/add-route.ts';
import { comparable } from '../testing/comparable.ts';
import { countKeys, eventsOf, signUpForKeys } from '../testing/key-account.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

const databaseTime = statement<{ now: string }>('test-database-time', `SELECT clock_timestamp() AS now`);

describe('POST /keys that mints nothing', () => {
  let api: TestApi;
  before(async () => {
    api = await startTestApi();
    await addRoute(api.database, 'a/one');
    await addRoute(api.database, 'a/two');
    await addRoute(api.database, 'a/asleep', { isActive: false });
  });
  after(() => api[Symbol.asyncDispose]());

  it('401 without a session, whatever else is wrong', async () => {
    const refused = await api.anonymous().refused(keys.createKey, 401, { body: { name: '' } });
    assert.deepEqual(refused, { detail: 'Unauthorized' });
  });

  const valid = { name: 'k' };
  it('400 naming credit_limit_cents where the limit is given in PKR', async () => {
    const account = await signUpForKeys(api);
    const body = await account.client.refused(keys.createKey, 400, {
      body: { project_id: account.projectId, ...valid, credit_limit_pkr: 5 },
    });
    assert.deepEqual(body['detail'], [
      {
        loc: ['body', 'credit_limit_pkr'],
        msg: 'Is not accepted here; send credit_limit_cents, in micro-PKR (1 PKR = 1,000,000).',
        type: 'not_accepted',
      },
    ]);
  });

  for (const [given, name] of [
    ['"credit_limit_cents": 1, "credit_limit_cents": 2', 'credit_limit_cents'],
    ['"credit_limit_cents": 1, "credit_limit_cents": 1', 'credit_limit_cents'],
    ['"credit_limit_cents": null, "credit_limit\\u005fcents": 5', 'credit_limit_cents'],
    ['"credit_limit_pkr": 1, "credit_limit_pkr": 1', 'credit_limit_pkr'],
  ]) {
    it(`400 for a limit that is given twice: ${given}`, async () => {
      const account = await signUpForKeys(api);
      const reply = await account.client.raw({
        method: 'POST',
        path: '/api/keys',
        headers: {
          'content-type': 'application/json',
          cookie: `svc_access_token=${account.client.cookies.get('svc_access_token')}`,
        },
        body: `{"project_id": "${account.projectId}", "name": "k", ${given}}`,
      });
      assert.equal(reply.status, 400, reply.text);
      assert.deepEqual(JSON.parse(reply.text), {
        detail: [{ loc: ['body', name], msg: 'Must be given once.', type: 'repeated' }],
      });
      assert.equal(await countKeys(api, account), 0);
    });
  }

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
    ...[5, 0, null, '5', {}].map((value): [string, Record<string, unknown>] => [
      `credit_limit_pkr ${JSON.stringify(value)}`,
      { credit_limit_pkr: value },
    ]),
    ['an empty list of models', { allowed_models: [] }],
    ['a model that is no text', { allowed_models: [1] }],
    ['one text for the list of models', { allowed_models: 'a/one' }],
    ['a model with U+0000', { allowed_models: ['a\u0000'] }],
    ['too many models', { allowed_models: Array(MAX_ALLOWED_MODELS + 1).fill('a/one') }],
    ['an unknown environment', { environment: 'staging' }],
    ['an environment in capitals', { environment: 'Production' }],
  ];
  for (const [what, wrong] of wrongShapes) {
    it(`400 with the faults for ${what}`, async () => {
      const account = await signUpForKeys(api);
      const body = await account.client.refused(keys.createKey, 400, {
        body: { project_id: account.projectId, ...valid, ...wrong },
      });
      const faults = (body['detail'] as { loc: string[] }[]).map(({ loc }) => loc.slice(0, 2).join(' '));
      assert.deepEqual(
        [...new Set(faults)],
        Object.keys(wrong).map((name) => `body ${name}`),
      );
      assert.equal(await countKeys(api, account), 0);
    });
  }

  it('400 with the fault for a number past what JSON numbers hold', async () => {
    const account = await signUpForKeys(api);
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
    const { client } = await signUpForKeys(api);
    const body = await client.refused(keys.createKey, 400, {
      body: { name: '', expires_at: 'x', credit_limit_cents: 0, allowed_models: [], environment: '' },
    });
    assert.equal((body['detail'] as unknown[]).length, 6);
  });

  it('400 with the sentence when expires_at is past, or is now by the clock of the database', async () => {
    const account = await signUpForKeys(api);
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
    assert.equal(await countKeys(api, account), 0);
  });

  it('400 with the sentence for models that are unknown or inactive, naming them', async () => {
    const account = await signUpForKeys(api);
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
    assert.equal(await countKeys(api, account), 0);
    assert.deepEqual(await eventsOf(account, 'api_key.created'), []);
  });

  it('400 naming the beginning of an unknown model of any length', async () => {
    const account = await signUpForKeys(api);
    const body = { project_id: account.projectId, name: 'k', allowed_models: ['nope/'.repeat(2_000)] };
    const refused = await account.client.refused(keys.createKey, 400, { body });
    assert.match(String(refused['error']), /'nope\/nope/);
  });

  it('400 within 1 KiB however many and long the unknown models are', async () => {
    const account = await signUpForKeys(api);
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
    const [account, other] = [await signUpForKeys(api), await signUpForKeys(api)];
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
    assert.equal(await countKeys(api, other), 0);
    assert.deepEqual(await eventsOf(account, 'api_key.created'), []);
  });

  it('404 before 400 for what is wrong besides, the expiry before the models, the shape before all', async () => {
    const account = await signUpForKeys(api);
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
});
