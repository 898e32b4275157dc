import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { casesOf, itemsOf } from '@gatehouse/concurrency/testing';
import { analytics, bucketWidthFromText, durationFromText, keys } from '@gatehouse/contract';
import type { RequestLogRow } from '@gatehouse/store';
import { createTestTelemetry, runSql } from '@gatehouse/store/testing';
import { NOW } from '../testing/analytics-api.ts';
import { type KeyAccount, signUpForKeys } from '../testing/key-account.ts';
import {
  MODELS,
  randomRows,
  referenceFigure,
  referenceSeries,
  requestsOf,
  rowsOfPart,
} from '../testing/reference-figures.ts';
import { addRequests } from '../testing/requests.ts';
import { seeded } from '../testing/seeded.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';
import { rollupWindow } from './figures/rules.ts';

// Random queries over random rows, with pages of any size: series, summary and request log must each be what plain code
// computes, and so agree with each other. A failure reports the query, and SEED reproduces it.
const ROWS = 1_200;
const { seed: SEED, count: QUERIES, isWhole } = casesOf(20_261_122, 60);

const HOUR = 3_600_000_000n;
const UNCUT = { points: 50_000, rows: 5_000, bytes: 2_000_000, buckets: 1_000_000_000_000 };
/** The points of a page, and the buckets that its query may span. Each page is a query, so few have one point. */
const CUTS = [
  [1, 0],
  [2, UNCUT.buckets],
  [3, 0],
  [7, UNCUT.buckets],
  [100, 0],
  [100, UNCUT.buckets],
] as const;
const MAX_PAGES = 8;
const chance = seeded(SEED);
const { below, pick, maybe } = chance;

type Query = Record<string, string>;

describe('series, summary and request log', () => {
  const stack = new AsyncDisposableStack();
  // Read at each query, and changed between them.
  const pages = { ...UNCUT };
  let now = NOW;
  let api: TestApi;
  let account: KeyAccount;
  let projectIds: readonly string[];
  let keyIds: readonly string[];
  let rows: readonly RequestLogRow[];

  before(async () => {
    const telemetry = stack.use(await createTestTelemetry());
    const parts = { telemetry: telemetry.client, nowMicros: () => now, pages };
    api = stack.use(await startTestApi({}, parts));
    account = await signUpForKeys(api);
    const { client, organizationId, projectId } = account;
    const [second] = await runSql<{ id: string }>(api.database)`
      INSERT INTO projects (organization_id, name) VALUES (${organizationId}, 'second') RETURNING id`;
    assert.ok(second);
    projectIds = [projectId, second.id];
    const mint = async (project_id: string) =>
      (await client.call(keys.createKey, { body: { project_id, name: 'k' } })).id;
    keyIds = [await mint(projectId), await mint(projectId), await mint(second.id)];
    rows = randomRows(chance, { organizationId, projectIds, keyIds }, NOW, ROWS);
    const { organizationId: stranger } = await api.signUp();
    await addRequests(telemetry, [...rows, ...rows.map((row) => ({ ...row, organizationId: stranger }))]);
  });
  after(() => stack.disposeAsync());

  const filters = (): Query => ({
    ...maybe(0.3, () => ({ project_id: pick(projectIds) })),
    ...maybe(0.3, () => ({ key_id: pick(keyIds) })),
    ...maybe(0.3, () => ({ model_alias: pick(MODELS) })),
  });

  function randomQuery() {
    return {
      time_range: pick(['1s', '59m', '1h', '24h', '3d', '50h', '7d', `${1 + below(90)}d`, '3650d', '99999d']),
      metric: pick(analytics.METRICS),
      group_by: pick(analytics.GROUPINGS),
      interval: pick([...'1h 1d 7d 6h 1s 7m 90m 5h 49h 99999999d'.split(' '), `${1 + below(1e5)}s`]),
      ...filters(),
    };
  }

  /** Now, or an edge of an hour. */
  const randomNow = () => pick([NOW, (NOW / HOUR) * HOUR + BigInt(below(3) - 1)]);

  /** Pages of any size, and a few queries for them: each page is one, and so is each bucket that has a query of its own. */
  const randomPages = (points: number) => ({
    points: Math.max(1, Math.ceil(points / (1 + below(MAX_PAGES)))),
    buckets: pick(points > MAX_PAGES ? [UNCUT.buckets] : [1, 20, UNCUT.buckets]),
  });

  /** The scope of a query. */
  function partOf({ time_range = '', project_id, key_id, model_alias }: Query) {
    const { seconds } = durationFromText(time_range) ?? assert.fail(time_range);
    const window = { fromMicros: now - BigInt(seconds) * 1_000_000n, toMicros: now };
    // An empty filter counts as unset.
    return { ...window, projectId: project_id, keyId: key_id, model: model_alias || undefined };
  }

  const series = (query: Query) => account.client.call(analytics.getTimeseries, { query });

  /** Every row of the request log in the scope, page after page. */
  async function wholeLog({ model_alias, ...query }: Query) {
    const all: {
      readonly metrics: { readonly total_tokens: number };
      readonly request_count?: number | undefined;
    }[] = [];
    for (let total = 1; all.length < total; ) {
      const page: { total: number; requests: typeof all } = await account.client.call(
        analytics.listRequests,
        {
          query: { ...query, ...(model_alias ? { model: model_alias } : {}), limit: 200, offset: all.length },
        },
      );
      total = page.total;
      if (page.requests.length === 0) break;
      all.push(...page.requests);
    }
    return all;
  }

  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

  function assertClose(actual: number | null, expected: number | null, what: string): void {
    if (actual === null || expected === null) assert.equal(actual, expected, what);
    else
      assert.ok(Math.abs(actual - expected) <= 1e-12 * Math.abs(expected), `${what}: ${actual}, ${expected}`);
  }

  it(`200 with what plain code finds, for ${QUERIES} random queries`, async () => {
    let byRollup = 0;
    let inPages = 0;
    for (let nth = 0; nth < QUERIES; nth += 1) {
      now = randomNow();
      const query = randomQuery();
      const { metric, group_by, interval, ...scope } = query;
      const part = partOf(scope);
      const expected = rowsOfPart(rows, part);
      const { seconds } = bucketWidthFromText(interval) ?? assert.fail(interval);
      const points = referenceSeries(expected, metric, group_by, seconds);
      Object.assign(pages, pick([UNCUT, randomPages(points.length)]));
      const what = `seed ${SEED}, query ${nth}: ${JSON.stringify({ ...query, ...pages, now: `${now}` })}`;

      const { data, ...head } = await series(query);
      assert.deepEqual(data, points, what);
      const time_range = scope.time_range === '99999d' ? '3650d' : scope.time_range;
      assert.deepEqual(head, { metric, interval, group_by, time_range }, what);
      if (data.length > pages.points) inPages += 1;
      // After the first summary of all requests the API knows how few they are, and reads the rows.
      const isNarrow = part.projectId || part.keyId || part.model;
      const isBegun = nth < QUERIES / 2;
      const asScope = { ...part, organizationId: account.organizationId } as never;
      if (isBegun && rollupWindow(asScope, { grouping: group_by, widthSeconds: seconds })) byRollup += 1;
      if (isBegun && !isNarrow) continue;

      const summary = await account.client.call(analytics.getSummary, { query: scope });
      assert.equal(summary.total_requests, requestsOf(expected), what);
      assert.equal(summary.total_token_usage, sum(expected.map((row) => row.totalTokens)), what);
      assert.equal(summary.avg_e2e_latency_ms, referenceFigure(expected, 'latency'), what);
      assert.equal(summary.avg_ttft_ms, referenceFigure(expected, 'ttft'), what);
      assert.equal(summary.avg_tokens_per_sec, referenceFigure(expected, 'tok_s'), what);

      const of = async (name: analytics.Metric) => (await series({ ...query, metric: name })).data;
      const [volume, tokens, latency] = [await of('volume'), await of('token_usage'), await of('latency')];
      assert.equal(sum(volume.map((point) => point.value)), summary.total_requests, what);
      assert.equal(sum(tokens.map((point) => point.value)), summary.total_token_usage, what);
      // Every request has a latency, so the means of the buckets weigh as much as their volumes.
      const weighed = sum(latency.map((point, index) => point.value * (volume[index]?.value ?? Number.NaN)));
      assertClose(
        summary.total_requests === 0 ? null : weighed / summary.total_requests,
        summary.avg_e2e_latency_ms,
        what,
      );

      if (nth % 5 !== 0) continue;
      const log = await wholeLog(scope);
      assert.equal(sum(log.map((row) => row.request_count ?? 1)), summary.total_requests, what);
      assert.equal(sum(log.map((row) => row.metrics.total_tokens)), summary.total_token_usage, what);
    }
    if (isWhole) assert.ok(byRollup > 5, `${byRollup} series from the hourly rollup`);
    if (isWhole) assert.ok(inPages > 5, `${inPages} in several pages`);
  });

  it('200 with the same bytes wherever a series is cut into pages', async () => {
    now = NOW;
    const send = async (query: Query) => {
      const reply = await account.client.send(analytics.getTimeseries, { query });
      assert.equal(reply.status, 200);
      return reply.text;
    };
    for (const query of [
      // Spans without rows, buckets with more groups than a page, a few at a time.
      { time_range: '3650d', interval: '1s', key_id: keyIds[0], model_alias: MODELS[3] },
      // From the hourly rollup if it is read whole.
      { time_range: '90d', interval: '7d', group_by: 'key', metric: 'ttft', project_id: projectIds[0] },
      { time_range: '4d', interval: '1h', metric: 'tok_s', model_alias: MODELS[3] },
      { time_range: '2h', interval: '45m', group_by: 'key' },
      { time_range: '3650d', interval: '9999d', group_by: 'project', metric: 'latency' },
      { time_range: '3h', interval: '1m', model_alias: 'unknown' },
    ] as Query[]) {
      Object.assign(pages, UNCUT);
      const uncut = await send(query);
      for (const [points, buckets] of itemsOf(CUTS)) {
        Object.assign(pages, { points, buckets });
        assert.equal(await send(query), uncut, JSON.stringify({ query, pages }));
      }
    }
  });
});
