import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { keys } from '@gatehouse/contract';
import type { TelemetryClient } from '@gatehouse/store';
import { createTestTelemetry, runSql } from '@gatehouse/store/testing';
import { BREAKAGES, type Breakage, bounded, startBrokenTelemetry } from '../testing/broken-telemetry.ts';
import { type KeyAccount, mintKey, signUpForKeys } from '../testing/key-account.ts';
import { addRequests, requestRow } from '../testing/requests.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

async function mint(account: KeyAccount, names: string[]) {
  const minted = [];
  for (const name of names) minted.push(await mintKey(account, { name }));
  return minted;
}

/** Makes copies of a key, some of them of one moment, and every second one for one model. */
async function multiply(api: TestApi, keyId: string, copies: number) {
  await runSql(api.owner)`
    INSERT INTO api_keys (organization_id, project_id, name, key_prefix, secret_hash, rate_limit_rpm, environment,
                          allowed_models, created_at)
    SELECT organization_id, project_id, name, key_prefix, sha256(gen_random_uuid()::text::bytea), rate_limit_rpm,
           environment, CASE WHEN n % 2 = 0 THEN '{demo/echo}'::text[] END, created_at - (n / 3) * interval '1 ms'
    FROM api_keys, generate_series(1, ${copies}) AS n WHERE id = ${keyId}`;
}

describe('GET /keys', () => {
  let api: TestApi;
  before(async () => {
    api = await startTestApi();
  });
  after(() => api?.[Symbol.asyncDispose]());

  it('200 with an empty list for a new organisation', async () => {
    const { client } = await api.signUp();
    assert.deepEqual(await client.call(keys.listKeys), { keys: [] });
  });

  it('200 with the newest first, with expired keys, without revoked and foreign ones', async () => {
    const [account, stranger] = [await signUpForKeys(api), await signUpForKeys(api)];
    await mint(stranger, ['foreign']);
    const [first, second, third] = await mint(account, ['first', 'second', 'third']);
    assert.ok(first && second && third);
    await runSql(api.database)`
      UPDATE api_keys SET expires_at = clock_timestamp() - interval '1 second' WHERE id = ${first.id}`;
    await account.client.call(keys.revokeKey, { params: { key_id: second.id } });
    const { keys: listed } = await account.client.call(keys.listKeys);
    assert.deepEqual(
      listed.map((key) => key.name),
      ['third', 'first'],
    );
    assert.ok(Date.parse(listed[1]?.expires_at ?? '') < Date.now());
  });

  it('200 with exactly the fields of the specification', async () => {
    const account = await signUpForKeys(api);
    const [minted] = await mint(account, ['only']);
    const [listed] = (await account.client.call(keys.listKeys)).keys;
    assert.ok(minted && listed);
    const { api_key: _secret, enforcement_status: _status, ...common } = minted;
    const { created_at, ...others } = listed;
    assert.deepEqual(others, { ...common, last_used_at: null });
    assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/);
  });

  it('200 ordered by id for keys created at the same time', async () => {
    const account = await signUpForKeys(api);
    const minted = await mint(account, ['a', 'b', 'c', 'd', 'e', 'f']);
    await runSql(api.database)`
      UPDATE api_keys SET created_at = '2026-11-20T10:00:00Z' WHERE organization_id = ${account.organizationId}`;
    assert.deepEqual(
      (await account.client.call(keys.listKeys)).keys.map((key) => key.id),
      minted.map((key) => key.id).sort(),
    );
  });

  it('200 with a list of several pages, in the order and with the fields of a short one', async () => {
    const account = await signUpForKeys(api);
    const [first] = await mint(account, ['first']);
    assert.ok(first);
    await multiply(api, first.id, 750);
    const { keys: listed } = await account.client.call(keys.listKeys);
    assert.equal(listed.length, 751);
    assert.deepEqual(
      listed,
      listed.toSorted((a, b) => b.created_at.localeCompare(a.created_at) || a.id.localeCompare(b.id)),
    );
    assert.equal(new Set(listed.map((key) => key.id)).size, 751);
    assert.deepEqual(
      new Set(listed.map((key) => JSON.stringify(key.allowed_models))),
      new Set(['null', '["demo/echo"]']),
    );
    assert.deepEqual(Object.keys(listed[400] ?? {}).sort(), Object.keys(listed[0] ?? {}).sort());
  });

  it('200 with a long list of one moment, however much changes while it is read', async () => {
    const account = await signUpForKeys(api);
    const [first] = await mint(account, ['first']);
    assert.ok(first);
    await multiply(api, first.id, 999);
    // Each change gives all keys of the organisation another rate: a list of two moments has two.
    const stop = new AbortController();
    const changes = (async () => {
      for (let rate = 1; !stop.signal.aborted; rate += 1) {
        await runSql(api.database)`
          UPDATE api_keys SET rate_limit_rpm = ${rate} WHERE organization_id = ${account.organizationId}`;
      }
    })();
    const rates = new Set<number>();
    for (let lists = 0; lists < 20; lists += 1) {
      const { keys: listed } = await account.client.call(keys.listKeys);
      assert.equal(listed.length, 1_000);
      const [rate, ...others] = new Set(listed.map((key) => key.rate_limit_rpm));
      assert.deepEqual(others, []);
      rates.add(rate ?? 0);
    }
    stop.abort();
    await changes;
    assert.ok(rates.size > 1, 'nothing changed meanwhile');
  });

  it('200 with null in every row, and one warning, while the telemetry store refuses connections', async () => {
    const account = await signUpForKeys(api);
    await mint(account, ['a', 'b']);
    const reply = await account.client.send(keys.listKeys);
    assert.deepEqual(
      JSON.parse(reply.text).keys.map((key: { last_used_at: unknown }) => key.last_used_at),
      [null, null],
    );
    const warnings = api.logLines.filter(
      (line) => line['level'] === 40 && line['request_id'] === reply.headers['x-request-id'],
    );
    assert.deepEqual(
      warnings.map((line) => line['event']),
      ['keys.last_used_unavailable'],
    );
  });
});

describe('GET /keys with the telemetry store', () => {
  it('200 with the newest request of each key, null for a key that had none', async () => {
    await using telemetry = await createTestTelemetry();
    await using api = await startTestApi({}, { telemetry: telemetry.client });
    const [account, stranger] = [await signUpForKeys(api), await signUpForKeys(api)];
    const [often, refused, never] = await mint(account, ['often', 'refused', 'never']);
    assert.ok(often && refused && never);
    const at = (startedAtMicros: bigint, keyId: string | null, given = {}) =>
      requestRow({ organizationId: account.organizationId, startedAtMicros, keyId, ...given });
    await addRequests(telemetry, [
      at(1_795_170_600_123_455n, often.id),
      // In another month.
      at(1_792_000_000_000_001n, often.id),
      at(1_792_000_000_000_000n, refused.id, { status: 429, refusal: 'rate_limit_exceeded' }),
      at(1_795_170_600_999_999n, null),
      { ...at(1_795_170_600_999_999n, never.id), organizationId: stranger.organizationId },
    ]);
    await addRequests(telemetry, [
      at(1_795_170_600_123_456n, often.id),
      at(1_795_170_600_000_000n, often.id),
    ]);

    // A busy machine can exceed the time limit, and then every row is null.
    const lastUses = async () => {
      for (let attempt = 0; attempt < 50; attempt += 1) {
        const { keys: listed } = await account.client.call(keys.listKeys);
        if (listed.some((key) => key.last_used_at !== null)) {
          return listed.map((key) => [key.name, key.last_used_at]);
        }
      }
      return assert.fail('the telemetry store did not answer in time, in 50 attempts');
    };
    assert.deepEqual(await lastUses(), [
      ['never', null],
      ['refused', '2026-10-14T17:46:40.000000+00:00'],
      ['often', '2026-11-20T10:30:00.123456+00:00'],
    ]);
    await addRequests(telemetry, [at(1_795_170_600_123_457n, never.id)]);
    assert.deepEqual((await lastUses())[0], ['never', '2026-11-20T10:30:00.123457+00:00']);
  });
});

describe('GET /keys while the telemetry store is broken', () => {
  for (const breakage of Object.keys(BREAKAGES) as Breakage[]) {
    it(`200 with null in every row when it ${breakage}`, async () => {
      const row = { key: '', micros: '1795170600123456' };
      await using broken = await startBrokenTelemetry(breakage, row);
      await using api = await startTestApi({}, { telemetry: broken.client });
      const account = await signUpForKeys(api);
      const [first] = await mint(account, ['a', 'b']);
      // The answer is cut off after a row that is valid on its own.
      row.key = first?.id ?? '';
      const { keys: listed } = await bounded(account.client.call(keys.listKeys));
      assert.deepEqual(
        listed.map((key) => key.last_used_at),
        [null, null],
      );
    });
  }

  it('sends few queries for sixty requests at once: none keeps others of its organisation waiting', async () => {
    await using broken = await startBrokenTelemetry('never answers');
    let sent = 0;
    const query: TelemetryClient['query'] = (query) => {
      sent += 1;
      return broken.client.query(query);
    };
    await using api = await startTestApi({}, { telemetry: { query } as TelemetryClient });
    const { client } = await signUpForKeys(api);
    await Promise.all(Array.from({ length: 60 }, () => client.call(keys.listKeys)));
    // With a permit of the organisation during the wait, each pair would wait for its own, so thirty.
    assert.ok(sent < 20, `${sent} queries`);
  });
});
