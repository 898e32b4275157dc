import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { keys } from '@gatehouse/contract';
import { runSql } from '@gatehouse/store/testing';
import {
  eventsOf,
  issueNames,
  type KeyAccount,
  mintKey,
  sendText,
  signUpForKeys,
} from '../testing/key-account.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

describe('PATCH /keys/{key_id} that changes nothing', () => {
  let api: TestApi;
  let account: KeyAccount;
  let keyId: string;
  before(async () => {
    api = await startTestApi({ rateLimitCeilingRpm: 500 });
    account = await signUpForKeys(api);
    keyId = await mint();
  });
  after(() => api?.[Symbol.asyncDispose]());

  const mint = async (by = account, credit_limit_cents: number | null = null) =>
    (await mintKey(by, { credit_limit_cents })).id;
  const send = (text: string, by = account, key = keyId) => sendText(by, 'PATCH', `/keys/${key}`, text);
  const limit = (pkr: string, by: KeyAccount, key: string) =>
    send(`{"rate_limit_rpm": 60, "credit_limit_pkr": ${pkr}}`, by, key);
  const settings = () =>
    runSql(api.database)`
      SELECT rate_limit_rpm, credit_limit_micro_pkr, expires_at FROM api_keys WHERE id = ${keyId}`;
  const spend = (key: string, microPkr: number) =>
    runSql(api.owner)`UPDATE api_keys SET spent_micro_pkr = ${microPkr} WHERE id = ${key}`;

  const withField = (name: string, values: string) =>
    values.split(' ').map((value) => `{"rate_limit_rpm": 60, "${name}": ${value}}`);
  for (const [name, texts] of [
    ['rate_limit_rpm', ['{}', '{"rate_limit_rpm": null}']],
    ['rate_limit_rpm', '0 -1 60.5 "60" true 1e400'.split(' ').map((value) => `{"rate_limit_rpm": ${value}}`)],
    [
      'credit_limit_pkr',
      withField(
        'credit_limit_pkr',
        '-1 1e-7 0.0000004 1.0000001 1e21 1e400 9007199254.740992 "5" true [] {}',
      ),
    ],
    ['expires_at', withField('expires_at', '"1795000000" 1.5 true "2099-01-01T00:00:00Z" [] 1e400')],
    ['credit_limit_cents', withField('credit_limit_cents', '1 "1" 0 null')],
    [undefined, ['[]', 'null']],
  ] as const) {
    it(`400 with an issue for ${name ?? 'the body'}: ${texts.join(', ')}`, async () => {
      const before = await settings();
      for (const text of texts) {
        const { status, body } = await send(text);
        assert.deepEqual([status, issueNames(body)], [400, [name]], text);
        if (name === 'credit_limit_cents') assert.match(JSON.stringify(body), /credit_limit_pkr/);
      }
      assert.deepEqual(await settings(), before);
    });
  }

  it('400 with all issues at once', async () => {
    const { body } = await send('{"credit_limit_pkr": -1, "expires_at": "x", "credit_limit_cents": 5}');
    assert.deepEqual(issueNames(body), [
      'rate_limit_rpm',
      'credit_limit_pkr',
      'expires_at',
      'credit_limit_cents',
    ]);
  });

  it('400 for a limit that is given twice, in any spelling', async () => {
    for (const repeated of ['"credit_limit_pkr": 0', '"credit_limit\\u005fpkr": 5']) {
      const { status, body } = await send(`{"rate_limit_rpm": 60, "credit_limit_pkr": 5, ${repeated}}`);
      const issue = { loc: ['body', 'credit_limit_pkr'], msg: 'Must be given once.', type: 'repeated' };
      assert.deepEqual([status, body], [400, { detail: [issue] }], repeated);
    }
  });

  it('not 500 for a body that is nested as deeply as fits', async () => {
    const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;
    const { status } = await send(`{"rate_limit_rpm": 60, "more": ${deep}}`);
    assert.ok(status === 200 || status === 400);
  });

  it('400 naming the ceiling for a rate above it, and 200 for the ceiling', async () => {
    for (const rate of ['501', '1e300', '2147483648'])
      assert.deepEqual(await send(`{"rate_limit_rpm": ${rate}}`), {
        status: 400,
        body: { error: 'rate_limit_rpm cannot be above the platform ceiling of 500.' },
      });
    assert.equal((await send('{"rate_limit_rpm": 500}')).status, 200);
  });

  it('400 for an expiry that is now, past, before 1970 or after the year 9999', async () => {
    const [row] = await runSql<{ now: bigint }>(api.database)`
      SELECT floor(extract(epoch FROM clock_timestamp()))::bigint AS now`;
    for (const epoch of [row?.now, 1, -1, 253_402_300_800, 1_795_000_000_000, '1e300']) {
      const { status, body } = await send(`{"rate_limit_rpm": 60, "expires_at": ${epoch}}`);
      assert.equal(status, 400, String(epoch));
      assert.match(String(body['error']), /^expires_at must be /, String(epoch));
    }
  });

  it('400 naming the spend for a limit below it, to the last micro-PKR; 200 for that limit', async () => {
    const key = await mint();
    await spend(key, 5_000_000);
    for (const pkr of ['4.999999', '0.000001'])
      assert.deepEqual(await limit(pkr, account, key), {
        status: 400,
        body: { error: 'Credit limit cannot be below the 5.00 PKR this key has already spent.' },
      });
    const { status, body } = await limit('5', account, key);
    assert.deepEqual([status, body['credit_limit_cents']], [200, 5_000_000]);
    await spend(key, 12_500_001);
    assert.match(String((await limit('12.5', account, key)).body['error']), /the 12\.500001 PKR /);
    assert.equal((await limit('null', account, key)).status, 200);
  });

  it('400 naming the figures for a limit above the headroom; 200 for the last micro-PKR of it', async () => {
    const other = await signUpForKeys(api);
    const key = await mint(other);
    await mint(other, 600_000_000);
    const unlimited = await mint(other);
    const revoked = await mint(other, 900_000_000);
    await other.client.call(keys.revokeKey, { params: { key_id: revoked } });
    assert.deepEqual(await limit('400.000001', other, key), {
      status: 400,
      body: {
        error:
          "Credit limit cannot be above 400.00 PKR: the organisation's budget is 1000.00 PKR, and the limits of its other keys take 600.00 PKR.",
      },
    });
    // Its own limit does not count twice, and nothing is left for another key.
    for (const pkr of ['400', '399', '400']) assert.equal((await limit(pkr, other, key)).status, 200, pkr);
    assert.match(String((await limit('0.000001', other, unlimited)).body['error']), /above 0\.00 PKR/);
    assert.equal((await limit('null', other, unlimited)).status, 200);
    assert.equal((await limit('9007199254.740991', other, key)).status, 400);
  });

  it('200 without a limit although the other limits exceed the budget: it takes no headroom', async () => {
    const other = await signUpForKeys(api);
    const key = await mint(other, 1);
    for (let n = 0; n < 2; n += 1) await mint(other, Number.MAX_SAFE_INTEGER);
    assert.equal((await limit('null', other, key)).status, 200);
    assert.equal((await limit('0.000001', other, key)).status, 400);
  });

  it('400 for the first of several violated rules, in their order', async () => {
    const other = await signUpForKeys(api);
    const key = await mint(other);
    await spend(key, 2_000_000_000);
    for (const [rate_limit_rpm, expires_at, credit_limit_pkr, error] of [
      [501, 1, 1, /ceiling/],
      [500, 1, 1, /expires_at/],
      [500, 0, 1_001, /2000\.00 PKR this key has already spent/],
      [500, 0, 2_000, /budget is 1000\.00 PKR/],
    ] as const) {
      const { body } = await send(
        JSON.stringify({ rate_limit_rpm, expires_at, credit_limit_pkr }),
        other,
        key,
      );
      assert.match(String(body['error']), error);
    }
    assert.deepEqual(await eventsOf(other, 'api_key.updated'), []);
  });
});
