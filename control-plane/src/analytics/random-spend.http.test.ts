import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { casesOf } from '@gatehouse/concurrency/testing';
import { analytics, bucketWidthFromText, durationFromText, keys } from '@gatehouse/contract';
import type { RequestLogRow } from '@gatehouse/store';
import { createTestTelemetry, runSql } from '@gatehouse/store/testing';
import { DAY, NOW, SECOND } from '../testing/analytics-api.ts';
import { type KeyAccount, shareKeys, signUpForKeys } from '../testing/key-account.ts';
import { MODELS, randomRows, rowsOfPart } from '../testing/reference-figures.ts';
import { addRequests } from '../testing/requests.ts';
import { seeded } from '../testing/seeded.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

// Random queries over random rows: every bucket of every group must be what a loop over the rows computes. A failure
// reports the query, and SEED reproduces it.
const ROWS = 1_500;
const { seed: SEED, count: QUERIES, isWhole } = casesOf(20_261_123, 60);

// Their clocks changed on 2026-10-25, 2026-11-01, 2026-10-04 (by half an hour) and 2026-09-06 (at midnight), and never.
const ZONES = [
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'America/Santiago',
  'Asia/Kathmandu',
  'asia/karachi',
  '-03:30',
];

const { below, pick, maybe, random } = seeded(SEED);
type Query = Record<string, string>;
type Spend = Awaited<ReturnType<typeof callSpend>>;
const callSpend = (account: KeyAccount, query: Query) => account.client.call(analytics.getSpend, { query });

describe('spend', () => {
  const stack = new AsyncDisposableStack();
  let api: TestApi;
  let account: KeyAccount;
  let owners: { projectIds: readonly string[]; keyIds: readonly string[] };
  let memberIds: readonly (string | null)[];
  let rows: readonly RequestLogRow[];

  before(async () => {
    const telemetry = stack.use(await createTestTelemetry());
    api = stack.use(await startTestApi({}, { telemetry: telemetry.client, nowMicros: () => NOW }));
    account = await signUpForKeys(api);
    const { client, organizationId, projectId } = account;
    const [second] = await runSql<{ id: string }>(api.database)`
      INSERT INTO projects (organization_id, name) VALUES (${organizationId}, 'second') RETURNING id`;
    const mint = async (project_id: string) =>
      (await client.call(keys.createKey, { body: { project_id, name: 'k' } })).id;
    const projectIds = [projectId, second?.id ?? ''];
    const keyIds = [await mint(projectId), await mint(projectId), await mint(second?.id ?? '')];
    owners = { projectIds, keyIds };
    memberIds = await shareKeys(api, account, keyIds);
    // Some rows at the very start of a day of some zone.
    const midnights = [-4n, -3n, 0n, 1n, 2n, 18n].map((hours) => NOW - (NOW % DAY) + hours * 3_600n * SECOND);
    rows = randomRows({ below, pick, maybe, random }, { organizationId, ...owners }, NOW, ROWS).map((row) =>
      random() < 0.8
        ? row
        : { ...row, startedAtMicros: pick(midnights) - BigInt(below(80)) * DAY - BigInt(below(2)) },
    );
    const { organizationId: stranger } = await api.signUp();
    await addRequests(telemetry, [...rows, ...rows.map((row) => ({ ...row, organizationId: stranger }))]);
  });
  after(() => stack.disposeAsync());

  function randomQuery(): Query {
    const zone = maybe(0.6, () => pick(ZONES));
    const fromDays = 1 + below(90);
    const from = new Date(Number(NOW / 1000n) - fromDays * 86_400_000 + below(1e7)).toISOString();
    const to = new Date(Number(NOW / 1000n) - below(fromDays) * 86_400_000 + below(9e6)).toISOString();
    return {
      group_by: pick(analytics.SPEND_GROUPINGS),
      interval: zone ? pick(['1d', '1d', '7d', '24h']) : pick(['1d', '1h', '7d', '90m', '99999999d']),
      limit: pick(['1', '2', '3', '100']),
      ...pick<Query>([{ time_range: pick(['24h', '50h', '30d', '90d']) }, { from }, { from, to }, {}]),
      ...(zone ? { time_zone: zone } : {}),
      ...maybe(0.3, () => ({ project_id: pick(owners.projectIds) })),
      ...maybe(0.3, () => ({ key_id: pick(owners.keyIds) })),
      ...maybe(0.2, () => ({ model_alias: pick(MODELS) })),
    };
  }

  function rowsOf({ time_range = '24h', from, to, project_id, key_id, model_alias }: Query) {
    const seconds = durationFromText(time_range)?.seconds ?? 0;
    const micros = (text: string) => BigInt(Date.parse(text)) * 1000n;
    return rowsOfPart(rows, {
      fromMicros: from === undefined ? NOW - BigInt(seconds) * SECOND : micros(from),
      toMicros: to === undefined ? NOW : micros(to) - 1n,
      projectId: project_id,
      keyId: key_id,
      model: model_alias || undefined,
    });
  }

  /** The cost of each bucket and group, by `JSON.stringify([bucket, group])`. */
  function reference({ group_by, interval = '', time_zone }: Query, part: readonly RequestLogRow[]) {
    const width = bucketWidthFromText(interval)?.seconds ?? 0;
    const dates =
      time_zone &&
      new Intl.DateTimeFormat('en-CA', {
        timeZone: time_zone,
        year: 'numeric',
        month: '2-digit',
        day: '2-digit',
      });
    const bucketOf = (row: RequestLogRow) => {
      const ms = Number(row.startedAtMicros / 1000n);
      if (!dates) return new Date(Math.floor(ms / 1000 / width) * width * 1000).toISOString().slice(0, 19);
      const day = Date.parse(dates.format(ms)) / 86_400_000;
      const first = Math.floor(day / (width / 86_400)) * (width / 86_400);
      return new Date(first * 86_400_000).toISOString().slice(0, 10);
    };
    const groupOf = (row: RequestLogRow) =>
      ({
        project: row.projectId,
        key: row.keyId,
        model: row.model,
        member: memberIds[owners.keyIds.indexOf(row.keyId ?? '')],
      })[group_by ?? ''] || null;
    const sums = new Map<string, bigint>();
    for (const row of part) {
      const point = JSON.stringify([bucketOf(row), groupOf(row)]);
      sums.set(point, (sums.get(point) ?? 0n) + row.costMicroPkr);
    }
    for (const [point, cost] of sums) if (cost === 0n) sums.delete(point);
    return sums;
  }

  const micro = (pkr: number) => BigInt(Math.round(pkr * 1e6));
  const total = (amounts: Iterable<bigint>) => [...amounts].reduce((sum, amount) => sum + amount, 0n);

  function assertReference(spend: Spend, query: Query, expected: ReadonlyMap<string, bigint>): void {
    const what = JSON.stringify(query);
    const byGroup = new Map<string | null, bigint>();
    for (const [point, cost] of expected) {
      const [, group] = JSON.parse(point) as [string, string | null];
      byGroup.set(group, (byGroup.get(group) ?? 0n) + cost);
    }
    assert.equal(micro(spend.total.cost_pkr), total(expected.values()), what);
    // A day of a zone is known by its date, another bucket by its time.
    const labels = spend.buckets.map((bucket) => bucket.slice(0, query['time_zone'] ? 10 : 19));
    assert.equal(new Set(labels).size, labels.length, what);
    const points = spend.groups.flatMap(({ group, costs_pkr }) => {
      assert.equal(costs_pkr.length, labels.length, what);
      return costs_pkr.flatMap((cost, nth) =>
        cost === 0 ? [] : [[JSON.stringify([labels[nth], group]), micro(cost)]],
      );
    }) as [string, bigint][];
    const listed = new Set(spend.groups.map(({ group }) => group));
    const wanted = [...expected].filter(([point]) => listed.has(JSON.parse(point)[1] as string | null));
    assert.deepEqual(new Map(points), new Map(wanted), what);
    for (const { group, cost_pkr } of spend.groups) assert.equal(micro(cost_pkr), byGroup.get(group), what);
    // The most expensive are listed, and nothing is missing in the rest.
    const ranked = [...byGroup.values()].sort((a, b) => Number(b - a));
    assert.deepEqual(
      spend.groups.map(({ cost_pkr }) => micro(cost_pkr)),
      ranked.slice(0, Number(query['limit'])),
      what,
    );
    assert.equal(spend.other?.groups ?? 0, Math.max(byGroup.size - Number(query['limit']), 0), what);
    for (const [nth, cost] of spend.total.costs_pkr.entries()) {
      const parts = [...spend.groups, ...(spend.other ? [spend.other] : [])];
      assert.equal(total(parts.map(({ costs_pkr }) => micro(costs_pkr[nth] ?? 0))), micro(cost), what);
    }
  }

  it('200 with what the rows add up to, for every query', async () => {
    let points = 0;
    for (let nth = 0; nth < QUERIES; nth += 1) {
      const query = randomQuery();
      const expected = reference(query, rowsOf(query));
      points += expected.size;
      assertReference(await callSpend(account, query), query, expected);
    }
    if (isWhole) assert.ok(points > QUERIES * 10, `only ${points} points`);
  });

  it('200 with the same from the hourly rollup and from the rows', async () => {
    const queries = ZONES.flatMap((time_zone) =>
      analytics.SPEND_GROUPINGS.map((group_by) => ({
        time_zone,
        group_by,
        interval: '1d',
        time_range: '90d',
      })),
    );
    // One after the other: on a busy machine a queue of them would outlast its time limit.
    const answers: Spend[] = [];
    for (const query of queries) answers.push(await callSpend(account, query));
    // After this the API knows how few requests there are, and reads the rows.
    await account.client.call(analytics.getSummary, { query: { time_range: '90d' } });
    for (const [nth, query] of queries.entries()) {
      assert.deepEqual(await callSpend(account, query), answers[nth], JSON.stringify(query));
    }
  });

  for (const zone of ZONES) {
    it(`200 with every day of 90 once, from its first second on, in ${zone}`, async () => {
      const { buckets } = await callSpend(account, { time_range: '90d', interval: '1d', time_zone: zone });
      const dates = new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' });
      for (const [nth, bucket] of buckets.entries()) {
        const start = Date.parse(bucket);
        assert.equal(dates.format(start), bucket.slice(0, 10));
        const before = buckets[nth - 1];
        if (before === undefined) continue;
        assert.equal(dates.format(start - 1), before.slice(0, 10));
        assert.equal(Date.parse(bucket.slice(0, 10)) - Date.parse(before.slice(0, 10)), 86_400_000);
      }
      assert.ok(buckets.length === 90 || buckets.length === 91);
    });
  }
});
