import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createTestTelemetry, type TestTelemetry } from '@gatehouse/store/testing';
import { makeBenchProfile } from './bench-profile.ts';
import { drawUuid } from './draws.ts';
import { type FillOptions, fillRequestLog } from './fill-request-log.ts';
import { type TrafficProfile, zipf } from './traffic-profile.ts';

const END_MICROS = BigInt(Date.parse('2026-11-20T10:30:00Z')) * 1000n;
const DAYS = 28;
const START_MICROS = END_MICROS - 28n * 86_400_000_000n;
const ROWS = 40_000;
const options = { rows: ROWS, days: DAYS, endMicros: END_MICROS, seed: 7 };

describe('fillRequestLog', () => {
  let telemetry: TestTelemetry;
  const profile = makeBenchProfile({ organizations: 20, seed: 7 });
  before(async () => {
    telemetry = await createTestTelemetry();
    await fillRequestLog(telemetry.client, telemetry.database, profile, options);
  });
  after(async () => telemetry[Symbol.asyncDispose]());

  async function ask<Row>(select: string, { client }: TestTelemetry = telemetry): Promise<Row> {
    const answer = await client.query({ query: select, format: 'JSONEachRow' });
    const [row] = await answer.json<Row>();
    assert.ok(row);
    return row;
  }
  const share = async (condition: string, among = '1') =>
    (
      await ask<{ share: number }>(
        `SELECT countIf(${condition}) / count() AS share FROM request_log WHERE ${among}`,
      )
    ).share;

  it('makes the requested number of rows, all within the window, with unique ids', async () => {
    const row = await ask<Record<string, string>>(
      `SELECT count() AS rows, uniqExact(request_id) AS ids, toUnixTimestamp64Micro(min(timestamp)) AS first,
              toUnixTimestamp64Micro(max(timestamp)) AS last FROM request_log`,
    );
    assert.equal(row['rows'], String(ROWS));
    assert.equal(row['ids'], String(ROWS));
    assert.ok(BigInt(row['first'] ?? '') >= START_MICROS);
    assert.ok(BigInt(row['last'] ?? '') < END_MICROS);
    assert.ok(BigInt(row['first'] ?? '') < START_MICROS + 86_400_000_000n);
    assert.ok(BigInt(row['last'] ?? '') > END_MICROS - 3_600_000_000n);
  });

  it('makes rows that depend on the seed alone', async () => {
    const sums: string[] = [];
    for (const seed of [7, 7, 8]) {
      await using other = await createTestTelemetry();
      await fillRequestLog(other.client, other.database, profile, { ...options, seed });
      sums.push(
        (
          await ask<{ sum: string }>(
            "SELECT sum(cityHash64(formatRow('TSV', *))) AS sum FROM request_log",
            other,
          )
        ).sum,
      );
    }
    assert.equal(sums[0], sums[1]);
    assert.notEqual(sums[0], sums[2]);
  });

  it('adds to existing rows, also with the same seed', async () => {
    await using other = await createTestTelemetry();
    for (let time = 0; time < 2; time += 1)
      await fillRequestLog(other.client, other.database, profile, { ...options, rows: 500 });
    assert.equal(
      (await ask<{ rows: string }>('SELECT count() AS rows FROM request_log', other)).rows,
      '1000',
    );
  });

  it('divides the requests by the weights of the profile', async () => {
    const weights = zipf(20);
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    for (const rank of [0, 1, 9]) {
      const organization = profile.organizations[rank];
      assert.ok(organization);
      const expected = (weights[rank] ?? 0) / total;
      const got = await share(`organization_id = '${organization.id}'`);
      assert.ok(Math.abs(got - expected) < 0.15 * expected, `${rank}: ${got} instead of ${expected}`);
    }
    const [first, second] = profile.organizations[0]?.keys ?? [];
    assert.ok(first && second);
    assert.ok((await share(`key_id = '${first.id}'`)) > 1.5 * (await share(`key_id = '${second.id}'`)));
    const keys = new Map(profile.organizations.flatMap(({ keys }) => keys).map((key) => [key.id, key]));
    const answer = await telemetry.client.query({
      query:
        'SELECT DISTINCT toString(organization_id) AS organization, toString(key_id) AS key, toString(project_id) AS project FROM request_log',
      format: 'JSONEachRow',
    });
    for (const row of await answer.json<{ organization: string; key: string; project: string }>()) {
      assert.equal(keys.get(row.key)?.projectId, row.project);
      const owner = profile.organizations.find(({ keys }) => keys.some(({ id }) => id === row.key));
      assert.equal(owner?.id, row.organization);
    }
  });

  it('is plausible: by day and on weekdays, popular models, streams, some failures, few rejections', async () => {
    const by = (condition: string, min: number, max: number, among?: string) =>
      share(condition, among).then((got) => assert.ok(got >= min && got <= max, `${condition}: ${got}`));
    // 9 to 18 in Pakistan.
    await by('toHour(timestamp) BETWEEN 4 AND 12', 0.5, 0.75);
    await by('toDayOfWeek(timestamp) IN (6, 7)', 0.08, 0.2);
    await by('stream', 0.5, 0.7);
    await by("status = 200 AND termination_reason = 'success'", 0.93, 0.985);
    await by("refusal = 'rate_limit_exceeded'", 0.002, 0.04);
    await by("status >= 400 AND refusal = ''", 0.005, 0.03);
    await by("termination_reason = 'client_disconnect'", 0.005, 0.03);
    await by('is_byok', 0.05, 0.45);
    await by('notEmpty(metadata)', 0.4, 0.9);
    const perOrganization = await ask<{ share: number }>(
      `SELECT avg(top) AS share FROM (
         SELECT arraySum(arraySlice(arrayReverseSort(groupArray(n)), 1, 3)) / sum(n) AS top FROM (
           SELECT organization_id, model, count() AS n FROM request_log GROUP BY ALL) GROUP BY organization_id)`,
    );
    assert.ok(
      perOrganization.share > 0.5,
      `${perOrganization.share} of the requests are for three favourites`,
    );
  });

  it('throttles a key only after it exceeded its limit within sixty seconds', async () => {
    const limits = profile.organizations.flatMap(({ keys }) => keys);
    const row = await ask<{ wrong: string; all: string }>(
      `SELECT countIf(recent <= limit) AS wrong, count() AS all FROM (
         SELECT refusal, transform(toString(key_id), [${limits.map(({ id }) => `'${id}'`)}], [${limits.map(({ rateLimitRpm }) => rateLimitRpm)}], 0) AS limit,
           count() OVER (PARTITION BY key_id ORDER BY toUnixTimestamp64Milli(timestamp) RANGE BETWEEN 60000 PRECEDING AND CURRENT ROW) AS recent
         FROM request_log) WHERE refusal = 'rate_limit_exceeded'`,
    );
    assert.notEqual(row.all, '0');
    assert.equal(row.wrong, '0');
  });

  it('uses a key from its first day to its last, and rejects it after its expiry', async () => {
    await using other = await createTestTelemetry();
    const day = (n: number) => START_MICROS + BigInt(n) * 86_400_000_000n;
    const key = (name: string, more: object) => ({
      id: drawUuid(1, name),
      projectId: drawUuid(1, 'project'),
      weight: 1,
      rateLimitRpm: 60,
      ...more,
    });
    const allowed = profile.models[3]?.id ?? '';
    const small: TrafficProfile = {
      models: profile.models,
      organizations: [
        {
          id: drawUuid(1, 'organization'),
          weight: 1,
          keys: [
            key('always', { weight: 3 }),
            key('late', { usedFromMicros: day(20) }),
            key('revoked', { usedUntilMicros: day(10) }),
            key('expired', { expiresAtMicros: day(15) }),
            key('restricted', { models: [allowed] }),
          ],
        },
      ],
    };
    const progress: number[] = [];
    const onProgress: FillOptions['onProgress'] = ({ rows, of }) => {
      assert.equal(of, 20_000);
      progress.push(rows);
    };
    await fillRequestLog(other.client, other.database, small, { ...options, rows: 20_000, onProgress });
    assert.equal(progress.length, 4);
    assert.equal(progress.at(-1), 20_000);
    const found = async (name: string) =>
      ask<{
        rows: string;
        first: string;
        last: string;
        expired: string;
        afterwards: string;
        models: string[];
      }>(
        `SELECT count() AS rows, toUnixTimestamp64Micro(min(timestamp)) AS first,
           toUnixTimestamp64Micro(max(timestamp)) AS last, countIf(refusal = 'key_expired') AS expired,
           countIf(timestamp >= fromUnixTimestamp64Micro(${day(15)})) AS afterwards,
           groupUniqArrayIf(model, cost_micro_pkr > 0) AS models
         FROM request_log WHERE key_id = '${drawUuid(1, name)}'`,
        other,
      );
    const [late, revoked, expired, restricted] = await Promise.all(
      ['late', 'revoked', 'expired', 'restricted'].map(found),
    );
    assert.ok(late && revoked && expired && restricted);
    assert.ok(BigInt(late.first) >= day(20) && Number(late.rows) > 500);
    assert.ok(BigInt(revoked.last) < day(10) && Number(revoked.rows) > 500);
    assert.equal(expired.expired, expired.afterwards);
    assert.ok(Number(expired.expired) > 0);
    assert.deepEqual(restricted.models, [allowed]);
  });

  it('stops between statements when the signal aborts', async () => {
    await using other = await createTestTelemetry();
    const signal = AbortSignal.abort(new Error('enough'));
    await assert.rejects(
      fillRequestLog(other.client, other.database, profile, { ...options, signal }),
      /enough/,
    );
    assert.equal((await ask<{ rows: string }>('SELECT count() AS rows FROM request_log', other)).rows, '0');
  });

  it('throws for an invalid profile or window, naming the problem', async () => {
    const [organization] = profile.organizations;
    assert.ok(organization);
    for (const [wrong, changed, expected] of [
      [{ rows: 0 }, profile, /rows must be/],
      [{ days: 0 }, profile, /days must be/],
      [{ seed: 0.5 }, profile, /the seed/],
      [{}, { ...profile, models: [] }, /needs a model/],
      [{}, { ...profile, organizations: [{ ...organization, keys: [] }] }, /needs a key/],
      [{}, { ...profile, organizations: [{ ...organization, weight: 0 }] }, /weight must be/],
      [
        {},
        {
          ...profile,
          organizations: [
            {
              ...organization,
              keys: organization.keys.map((key) => ({ ...key, usedFromMicros: END_MICROS - 1n })),
            },
          ],
        },
        /no key is in use/,
      ],
    ] as const)
      await assert.rejects(
        fillRequestLog(telemetry.client, telemetry.database, changed, { ...options, ...wrong }),
        (error) => error instanceof RangeError && expected.test(error.message),
      );
  });
});
