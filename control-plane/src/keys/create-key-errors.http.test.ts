import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { keys, MAX_ALLOWED_MODELS, MAX_ROUTE_ID_LENGTH } from '@gatehouse/contract';
import { runSql } from '@gatehouse/store/testing';
import { addRoute } from '../testing/add-route.ts';
import { comparable } from '../testing/comparable.ts';
import {
  countKeys,
  eventsOf,
  issueNames,
  type KeyAccount,
  sendText,
  signUpForKeys,
} from '../testing/key-account.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

describe('POST /keys that mints nothing', () => {
  let api: TestApi;
  let account: KeyAccount;
  before(async () => {
    api = await startTestApi();
    await addRoute(api.database, 'a/one');
    await addRoute(api.database, 'a/asleep', { isActive: false });
    account = await signUpForKeys(api);
  });
  // No test of this file mints a key.
  after(async () => {
    try {
      assert.equal(await countKeys(api, account), 0);
      assert.deepEqual(await eventsOf(account, 'api_key.created'), []);
    } finally {
      await api?.[Symbol.asyncDispose]();
    }
  });

  const rejected = (body: object, status = 400) =>
    account.client.refused(keys.createKey, status, {
      body: { project_id: account.projectId, name: 'k', ...body },
    });

  it('400 naming credit_limit_cents where the limit is in PKR', async () => {
    assert.deepEqual((await rejected({ credit_limit_pkr: 5 }))['detail'], [
      {
        loc: ['body', 'credit_limit_pkr'],
        msg: 'Is not accepted here; send credit_limit_cents, in micro-PKR (1 PKR = 1,000,000).',
        type: 'not_accepted',
      },
    ]);
  });

  it('400 for a limit that is given twice, in any spelling', async () => {
    for (const [given, name] of [
      ['"credit_limit_cents": 1, "credit_limit_cents": 2', 'credit_limit_cents'],
      ['"credit_limit_cents": 1, "credit_limit_cents": 1', 'credit_limit_cents'],
      ['"credit_limit_cents": null, "credit_limit\\u005fcents": 5', 'credit_limit_cents'],
      ['"credit_limit_pkr": 1, "credit_limit_pkr": 1', 'credit_limit_pkr'],
    ]) {
      const text = `{"project_id": "${account.projectId}", "name": "k", ${given}}`;
      const reply = await sendText(account, 'POST', '/keys', text);
      assert.equal(reply.status, 400, given);
      const issue = { loc: ['body', name], msg: 'Must be given once.', type: 'repeated' };
      assert.deepEqual(reply.body, { detail: [issue] }, given);
    }
  });

  const invalid: Record<string, readonly unknown[]> = {
    // undefined: left out. Then blank, too long, a control character, U+0000, half a surrogate pair.
    name: [undefined, ' \t ', 'x'.repeat(256), 'a\u0007b', 'a\u0000b', '\ud800'],
    project_id: [7],
    expires_at: [
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
    ],
    credit_limit_cents: [0, -1, 1.5, '5', true, 2 ** 53, []],
    credit_limit_pkr: [5, 0, null, '5', {}],
    allowed_models: [[], [1], 'a/one', ['a\u0000'], Array(MAX_ALLOWED_MODELS + 1).fill('a/one')],
    environment: ['staging', 'Production'],
  };
  for (const [name, values] of Object.entries(invalid)) {
    it(`400 with an issue for each invalid ${name}`, async () => {
      for (const value of values)
        assert.deepEqual(issueNames(await rejected({ [name]: value })), [name], JSON.stringify(value));
    });
  }

  it('400 with an issue for a number that JSON numbers cannot hold', async () => {
    for (const number of ['1e400', '9007199254740993']) {
      const text = `{"project_id":"${account.projectId}","name":"k","credit_limit_cents":${number}}`;
      const { status, body } = await sendText(account, 'POST', '/keys', text);
      assert.deepEqual([status, issueNames(body)], [400, ['credit_limit_cents']], number);
    }
  });

  it('400 with all issues at once', async () => {
    const wrong = { name: '', expires_at: 'x', credit_limit_cents: 0, allowed_models: [], environment: '' };
    assert.deepEqual(issueNames(await rejected({ ...wrong, project_id: undefined })).sort(), [
      'allowed_models',
      'credit_limit_cents',
      'environment',
      'expires_at',
      'name',
      'project_id',
    ]);
  });

  it('400 when expires_at is past, or is now by the database’s clock', async () => {
    const [row] = await runSql<{ now: string }>(api.database)`SELECT clock_timestamp() AS now`;
    const now = row?.now ?? assert.fail('no time');
    for (const [given, named] of [
      ['2020-01-01T05:00:00+05:00', '2020-01-01T00:00:00.000000+00:00'],
      ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000000+00:00'],
      [now, now],
    ] as const)
      assert.deepEqual(await rejected({ expires_at: given }), {
        error: `expires_at must be in the future, which ${named} is not.`,
      });
  });

  it('400 naming unknown and inactive models', async () => {
    assert.deepEqual(await rejected({ allowed_models: ['a/one', 'nope', 'a/asleep', 'nope'] }), {
      error: "allowed_models: no active route has the id 'nope', 'a/asleep'.",
    });
    for (const similar of ['A/one', 'a/one ', 'a/on%', "a/one' OR '1'='1"])
      assert.match(String((await rejected({ allowed_models: [similar] }))['error']), /no active route/);
  });

  it('400 naming the route of an alias, within 1 KiB', async () => {
    const long = 'x'.repeat(MAX_ROUTE_ID_LENGTH);
    await runSql(
      api.database,
    )`INSERT INTO route_aliases (alias, route_id) VALUES ('one', 'a/one'), (${long}, 'a/one')`;
    assert.deepEqual(await rejected({ allowed_models: ['one'] }), {
      error:
        "allowed_models: no active route has the id 'one'. 'one' is an alias; name its route, 'a/one', which admits its aliases too.",
    });
    const { error } = await rejected({
      allowed_models: [long, ...Array.from({ length: 200 }, (_, i) => `${i}${long}`.slice(0, 200))],
    });
    assert.match(String(error), /x' is an alias; name its route, 'a\/one'/);
    assert.ok(Buffer.byteLength(JSON.stringify({ error })) <= 1024);
  });

  it('400 within 1 KiB however many and long the unknown models are', async () => {
    const many = Array.from({ length: MAX_ALLOWED_MODELS }, (_, index) =>
      `<img onerror="${index}">`.padEnd(MAX_ROUTE_ID_LENGTH, '<'),
    );
    for (const allowed_models of [many, ['nope/'.repeat(2_000)]])
      assert.ok(Buffer.byteLength(JSON.stringify(await rejected({ allowed_models }))) <= 1024);
  });

  it('404 alike for a project that is foreign, unknown or malformed', async () => {
    const other = await signUpForKeys(api);
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
      assert.equal(reply.status, 404, project_id);
      replies.push(comparable(reply));
    }
    for (const reply of replies) assert.deepEqual(reply, replies[0]);
    assert.equal(replies[0]?.text, '{"error":"Project not found."}');
    assert.equal(await countKeys(api, other), 0);
  });

  it('checks the shape, then the project, then the expiry, then the models', async () => {
    const wrong = { project_id: randomUUID(), expires_at: '2020-01-01T00:00:00Z', allowed_models: ['nope'] };
    assert.ok('detail' in (await rejected({ ...wrong, name: '' })));
    assert.deepEqual(await rejected(wrong, 404), { error: 'Project not found.' });
    const owned = { ...wrong, project_id: account.projectId };
    assert.match(String((await rejected(owned))['error']), /^expires_at/);
    assert.match(String((await rejected({ ...owned, expires_at: null }))['error']), /^allowed_models/);
  });
});
