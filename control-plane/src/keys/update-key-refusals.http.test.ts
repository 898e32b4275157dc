import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { keys } from '@gatehouse/contract';
import { eventsOf, type KeyAccount, signUpForKeys } from '../testing/key-account.ts';
import { sql } from '../testing/sql.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

describe('PATCH /keys/{key_id} that changes nothing', () => {
  let api: TestApi;
  let account: KeyAccount;
  let keyId: string;
  before(async () => {
    api = await startTestApi({ rateLimitCeilingRpm: 500 });
    account = await signUpForKeys(api);
    keyId = await mint(account);
  });
  after(() => api[Symbol.asyncDispose]());

  async function mint({ client, projectId }: KeyAccount, credit_limit_cents: number | null = null) {
    const body = { project_id: projectId, name: 'k', credit_limit_cents };
    return (await client.call(keys.createKey, { body })).id;
  }
  /** Sends the text as it is: JavaScript would write some numbers in another way. */
  async function send(text: string, by = account, key = keyId) {
    const reply = await by.client.raw({
      method: 'PATCH',
      path: `/api/keys/${key}`,
      headers: {
        'content-type': 'application/json',
        cookie: [...by.client.cookies].map((pair) => pair.join('=')).join('; '),
      },
      body: text,
    });
    return { status: reply.status, body: JSON.parse(reply.text) as Record<string, unknown> };
  }
  const figures = (key = keyId) =>
    sql(
      api.database,
      `SELECT rate_limit_rpm, credit_limit_micro_pkr, expires_at FROM api_keys WHERE id = $1`,
      [key],
    );
  const spend = (key: string, microPkr: number) =>
    sql(api.owner, `UPDATE api_keys SET spent_micro_pkr = $2 WHERE id = $1`, [key, microPkr]);

  it('401 without a session, whatever else is wrong', async () => {
    const refused = await api.anonymous().refused(keys.updateKey, 401, { params: { key_id: 'x' }, body: {} });
    assert.deepEqual(refused, { detail: 'Unauthorized' });
  });

  for (const [fields, names] of [
    ['{}', ['rate_limit_rpm']],
    ['{"rate_limit_rpm": null}', ['rate_limit_rpm']],
    ['{"rate_limit_rpm": 0}', ['rate_limit_rpm']],
    ['{"rate_limit_rpm": -1}', ['rate_limit_rpm']],
    ['{"rate_limit_rpm": 60.5}', ['rate_limit_rpm']],
    ['{"rate_limit_rpm": "60"}', ['rate_limit_rpm']],
    ['{"rate_limit_rpm": true}', ['rate_limit_rpm']],
    ['{"rate_limit_rpm": 1e400}', ['rate_limit_rpm']],
    ...[
      '-1',
      '1e-7',
      '0.0000004',
      '1.0000001',
      '1e21',
      '1e400',
      '9007199254.740992',
      '"5"',
      'true',
      '[]',
      '{}',
    ].map(
      (amount) => [`{"rate_limit_rpm": 60, "credit_limit_pkr": ${amount}}`, ['credit_limit_pkr']] as const,
    ),
    ...['"1795000000"', '1.5', 'true', '"2099-01-01T00:00:00Z"', '[]', '1e400'].map(
      (epoch) => [`{"rate_limit_rpm": 60, "expires_at": ${epoch}}`, ['expires_at']] as const,
    ),
    ...['1', '"1"', '0', 'null'].map(
      (value) => [`{"rate_limit_rpm": 60, "credit_limit_cents": ${value}}`, ['credit_limit_cents']] as const,
    ),
    [
      '{"credit_limit_pkr": -1, "expires_at": "x", "credit_limit_cents": 5}',
      ['rate_limit_rpm', 'credit_limit_pkr', 'expires_at', 'credit_limit_cents'],
    ],
    ['{"rate_limit_rpm": 60, "credit_limit_pkr": 5, "credit_limit_pkr": 0}', ['credit_limit_pkr']],
    ['{"rate_limit_rpm": 60, "credit_limit_pkr": 5, "credit_limit\\u005fpkr": 5}', ['credit_limit_pkr']],
    ['[]', [undefined]],
    ['null', [undefined]],
  ] as const) {
    it(`400 with the faults for ${fields}`, async () => {
      const earlier = await figures();
      const { status, body } = await send(fields);
      assert.equal(status, 400);
      const faults = body['detail'] as { loc: string[]; msg: string }[];
      assert.deepEqual(
        faults.map(({ loc }) => loc[1]),
        names,
      );
      for (const { loc, msg } of faults)
        if (loc[1] === 'credit_limit_cents') assert.match(msg, /credit_limit_pkr/);
      if (/, "credit_limit.*, "credit_limit/.test(fields))
        assert.deepEqual(faults, [
          { loc: ['body', 'credit_limit_pkr'], msg: 'Must be given once.', type: 'repeated' },
        ]);
      assert.deepEqual(await figures(), earlier);
    });
  }

  it('400 and not 500 for a body that is nested as deeply as can be', async () => {
    const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;
    const { status } = await send(`{"rate_limit_rpm": 60, "more": ${deep}}`);
    assert.ok(status === 200 || status === 400);
  });

  it('400 naming the ceiling when the rate is above it, and 200 for the ceiling', async () => {
    for (const rate of ['501', '1e300', '2147483648'])
      assert.deepEqual(await send(`{"rate_limit_rpm": ${rate}}`), {
        status: 400,
        body: { error: 'rate_limit_rpm cannot be above the platform ceiling of 500.' },
      });
    assert.equal((await send('{"rate_limit_rpm": 500}')).status, 200);
  });

  it('400 with the sentence for an expiry that is now, past, before 1970 or after the year 9999', async () => {
    const [row] = await sql<{ now: bigint }>(
      api.database,
      'SELECT floor(extract(epoch FROM clock_timestamp()))::bigint AS now',
    );
    for (const epoch of [
      row?.now,
      1,
      -1,
      -8_640_000_000_001,
      253_402_300_800,
      1_795_000_000_000,
      8_640_000_000_001,
      '1e300',
    ]) {
      const { status, body } = await send(`{"rate_limit_rpm": 60, "expires_at": ${epoch}}`);
      assert.equal(status, 400, String(epoch));
      assert.match(String(body['error']), /^expires_at must be /, String(epoch));
    }
  });

  it('400 naming what is spent for a limit below it, to the last micro-PKR; 200 for that limit', async () => {
    const key = await mint(account);
    await spend(key, 5_000_000);
    for (const limit of ['4.999999', '0.000001'])
      assert.deepEqual(await send(`{"rate_limit_rpm": 60, "credit_limit_pkr": ${limit}}`, account, key), {
        status: 400,
        body: { error: 'Credit limit cannot be below the 5.00 PKR this key has already spent.' },
      });
    const { status, body } = await send('{"rate_limit_rpm": 60, "credit_limit_pkr": 5}', account, key);
    assert.deepEqual([status, body['credit_limit_cents']], [200, 5_000_000]);
    await spend(key, 12_500_001);
    const { body: exact } = await send('{"rate_limit_rpm": 60, "credit_limit_pkr": 12.5}', account, key);
    assert.match(String(exact['error']), /the 12\.500001 PKR /);
    assert.equal((await send('{"rate_limit_rpm": 60}', account, key)).status, 200);
  });

  it('400 naming the figures for a limit beyond the budget; 200 for the last micro-PKR of it', async () => {
    const other = await signUpForKeys(api);
    const [key, , unlimited, revoked] = [
      await mint(other),
      await mint(other, 600_000_000),
      await mint(other),
      await mint(other, 900_000_000),
    ];
    await other.client.call(keys.revokeKey, { params: { key_id: revoked } });
    const limit = (pkr: string, id = key) =>
      send(`{"rate_limit_rpm": 60, "credit_limit_pkr": ${pkr}}`, other, id);
    assert.deepEqual(await limit('400.000001'), {
      status: 400,
      body: {
        error:
          "Credit limit cannot be above 400.00 PKR: the organisation's budget is 1000.00 PKR, and the limits of its other keys take 600.00 PKR.",
      },
    });
    assert.equal((await limit('400')).status, 200);
    // Its own limit does not count twice, and nothing is left for another.
    assert.equal((await limit('399')).status, 200);
    assert.equal((await limit('400')).status, 200);
    assert.match(String((await limit('0.000001', unlimited)).body['error']), /above 0\.00 PKR/);
    assert.equal((await limit('null', unlimited)).status, 200);
    assert.equal((await limit('9007199254.740991')).status, 400);
  });

  it('200 without a limit although the others have more than the budget: it takes nothing of it', async () => {
    const other = await signUpForKeys(api);
    const [key] = [
      await mint(other, 1),
      await mint(other, Number.MAX_SAFE_INTEGER),
      await mint(other, Number.MAX_SAFE_INTEGER),
    ];
    assert.equal((await send('{"rate_limit_rpm": 60}', other, key)).status, 200);
    assert.equal(
      (await send('{"rate_limit_rpm": 60, "credit_limit_pkr": 0.000001}', other, key)).status,
      400,
    );
  });

  it('400 for the first of several rules in their order', async () => {
    const other = await signUpForKeys(api);
    const key = await mint(other);
    await spend(key, 2_000_000_000);
    const ask = async (rate: number, expires: number, limit: number) =>
      (
        await send(
          JSON.stringify({ rate_limit_rpm: rate, expires_at: expires, credit_limit_pkr: limit }),
          other,
          key,
        )
      ).body['error'];
    assert.match(String(await ask(501, 1, 1)), /ceiling/);
    assert.match(String(await ask(500, 1, 1)), /expires_at/);
    assert.match(String(await ask(500, 0, 1_001)), /2000\.00 PKR this key has already spent/);
    assert.match(String(await ask(500, 0, 2_000)), /budget is 1000\.00 PKR/);
    assert.deepEqual(await eventsOf(other, 'api_key.updated'), []);
  });
});
