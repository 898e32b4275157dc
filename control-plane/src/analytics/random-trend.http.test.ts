import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { casesOf } from '@gatehouse/concurrency/testing';
import { analytics, epochMicrosFromTimestamp, keys, type OrganizationId } from '@gatehouse/contract';
import { queryRows, type RequestLogRow, startDeadline, type TelemetryQuery } from '@gatehouse/store';
import { createTestTelemetry, runSql, type TestTelemetry } from '@gatehouse/store/testing';
import { DAY, NOW } from '../testing/analytics-api.ts';
import { type KeyAccount, shareKeys, signUpForKeys } from '../testing/key-account.ts';
import { MODELS, referenceFigure, requestsOf } from '../testing/reference-figures.ts';
import {
  figuresOf,
  GROUPINGS,
  groupOf,
  type Query,
  randomOutcomes,
  rowsOf,
} from '../testing/reference-groups.ts';
import { addRequests } from '../testing/requests.ts';
import { seeded } from '../testing/seeded.ts';
import { startTestApi } from '../testing/test-api.ts';
import type { QuerySession } from './query-session.ts';
import { NO_FILTER } from './rules.ts';
import { findCells } from './trend/find-cells.ts';
import { hasRollup, rankGroups } from './trend/telemetry.ts';

// Random queries over random rows: every figure of every bucket of every group must be what a loop over the rows computes, and
// what the other endpoints say. A failure reports the query, and SEED reproduces it.
const ROWS = 1_500;
const { seed: SEED, count: QUERIES, isWhole } = casesOf(20_261_125, 60);
// Of half hours, with a change of the clock within the 90 days, and without.
const ZONES = [
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Europe/Berlin',
  'Australia/Lord_Howe',
  'Asia/Karachi',
  '-03:30',
];

const { below, pick, maybe, random } = seeded(SEED);
const choices = { below, pick, maybe, random };

type Trend = Awaited<ReturnType<typeof callTrend>>;
type Series = Trend['total'];
const callTrend = (account: KeyAccount, query: Query) => account.client.call(analytics.getTrend, { query });

describe('trends', () => {
  const stack = new AsyncDisposableStack();
  let telemetry: TestTelemetry;
  let account: KeyAccount;
  let projectIds: readonly string[];
  let keyIds: readonly string[];
  let memberIds: readonly (string | null)[];
  let rows: readonly RequestLogRow[];
  before(async () => {
    telemetry = stack.use(await createTestTelemetry());
    const api = stack.use(await startTestApi({}, { telemetry: telemetry.client, nowMicros: () => NOW }));
    account = await signUpForKeys(api);
    const { client, organizationId, projectId } = account;
    const [second] = await runSql<{ id: string }>(api.database)`
      INSERT INTO projects (organization_id, name) VALUES (${organizationId}, 'second') RETURNING id`;
    projectIds = [projectId, second?.id ?? ''];
    const mint = async (environment: string) =>
      (await client.call(keys.createKey, { body: { project_id: pick(projectIds), name: 'k', environment } }))
        .id;
    keyIds = [await mint('production'), await mint('testing'), await mint('development')];
    memberIds = await shareKeys(api, account, keyIds);
    rows = randomOutcomes(choices, { organizationId, projectIds, keyIds }, ROWS);
    const { organizationId: stranger } = await api.signUp();
    await addRequests(telemetry, [...rows, ...rows.map((row) => ({ ...row, organizationId: stranger }))]);
  });
  after(() => stack.disposeAsync());

  const isClose = (time: number | null | undefined, exact: number | null) =>
    time === null || time === undefined || exact === null
      ? time === exact
      : Math.abs(time - exact) <= exact / 500;

  /** The figures of rows, in the form of the reply; the quantiles exact. */
  function reference(part: readonly RequestLogRow[]) {
    const { times, costMicroPkr, ...sums } = figuresOf(part);
    return {
      ...sums,
      rows: part.length,
      cost_pkr: costMicroPkr / 1e6,
      avg_total_ms: referenceFigure(part, 'latency'),
      avg_ttft_ms: referenceFigure(part, 'ttft'),
      tokens_per_sec: referenceFigure(part, 'tok_s'),
      times,
    };
  }

  const micros = (text: string) => epochMicrosFromTimestamp(text) ?? 0n;

  type Plain = Omit<Series, 'per_bucket'>;

  function assertFigures(found: Plain, part: readonly RequestLogRow[], what: string): void {
    const { times, ...exact } = reference(part);
    const { total_ms, ttft_ms, ...others } = found;
    assert.deepEqual(others, exact, what);
    for (const [nth, time] of [total_ms?.p50, total_ms?.p95, ttft_ms?.p50, ttft_ms?.p95].entries())
      assert.ok(isClose(time, times[nth] ?? null), `${what}: ${time} for ${times[nth]}`);
  }

  /** The figures of one bucket. */
  function bucketOf({ per_bucket }: Series, nth: number): Plain {
    const { total_ms, ttft_ms, ...others } = per_bucket;
    const quantiles = (times: typeof total_ms) => ({
      p50: times?.p50[nth] ?? null,
      p95: times?.p95[nth] ?? null,
    });
    const plain = Object.entries(others).map(([name, values]) => [name, values?.[nth]]);
    return { ...Object.fromEntries(plain), total_ms: quantiles(total_ms), ttft_ms: quantiles(ttft_ms) };
  }

  function assertSeries(trend: Trend, series: Series, part: readonly RequestLogRow[], what: string): void {
    const { per_bucket: _, ...whole } = series;
    assertFigures(whole, part, what);
    const starts = trend.buckets.map((bucket) => BigInt(Date.parse(bucket)) * 1000n);
    const parts = Map.groupBy(part, ({ startedAtMicros }) =>
      starts.findLastIndex((at) => at <= startedAtMicros),
    );
    for (const nth of starts.keys())
      assertFigures(bucketOf(series, nth), parts.get(nth) ?? [], `${what} bucket ${trend.buckets[nth]}`);
  }

  function randomQuery(nth: number): Query {
    const days = 1 + below(80);
    const at = (daysAgo: number) =>
      new Date(Number(NOW / 1000n) - daysAgo * 86_400_000 + below(1e7)).toISOString();
    return {
      interval: pick(['1d', '1d', '6h', '36h', '7d', '99999999d']),
      limit: pick(['1', '2', '3', '8']),
      ...maybe(0.8, () => ({ group_by: GROUPINGS[nth % GROUPINGS.length] ?? '' })),
      ...pick<Query>([
        { time_range: pick(['1s', '24h', '50h', '90d']) },
        { from: at(days) },
        { from: at(days + 1), to: at(below(days)) },
      ]),
      ...maybe(0.6, () => ({ time_zone: pick(ZONES) })),
      ...maybe(0.2, () => ({ project_id: pick(projectIds) })),
      ...maybe(0.2, () => ({ key_id: pick(keyIds) })),
      ...maybe(0.2, () => ({ model_alias: pick(MODELS) })),
      ...maybe(0.1, () => ({ status_category: pick(analytics.STATUS_CATEGORIES) })),
      ...maybe(0.1, () => ({ termination_reason: pick(analytics.TERMINATION_REASONS) })),
      ...maybe(0.15, () => ({ error_code: pick(['any', 'upstream_429', 'none']) })),
      ...maybe(0.1, () => ({ min_cost_pkr: pick(['0.5', '5']) })),
      ...maybe(0.1, () => ({ search: pick(['re', "O'B", 'r11']) })),
    };
  }

  it('200 with what the rows add up to, for every query', async () => {
    let compared = 0;
    for (let nth = 0; nth < QUERIES; nth += 1) {
      const query = randomQuery(nth);
      const what = JSON.stringify(query);
      const part = rowsOf(rows, query);
      const trend = await callTrend(account, query);
      assertSeries(trend, trend.total, part, what);
      const { group_by, limit } = query;
      const parts = Map.groupBy(part, (row) => groupOf(row, group_by ?? '', keyIds, memberIds));
      if (group_by === undefined)
        assert.deepEqual([trend.group_by, trend.groups, trend.other], [null, [], null]);
      else {
        for (const { group, name: _, ...series } of trend.groups)
          assertSeries(trend, series, parts.get(group) ?? [], `${what} ${group}`);
        const listed = new Set(trend.groups.map(({ group }) => group));
        const ranked = [...parts.values()].map(requestsOf).sort((a, b) => b - a);
        assert.deepEqual(
          trend.groups.map(({ requests }) => requests),
          ranked.slice(0, Number(limit)),
          what,
        );
        assert.equal(trend.other?.groups ?? 0, parts.size - listed.size, what);
        if (trend.other) {
          const { groups: _, ...others } = trend.other;
          const rest = part.filter((row) => !listed.has(groupOf(row, group_by, keyIds, memberIds)));
          assertSeries(trend, others, rest, `${what} other`);
        }
      }
      const { from = '', to = '', ...before } = trend.previous ?? assert.fail(what);
      assert.equal(to, trend.from, what);
      assert.equal(micros(trend.to) - micros(trend.from), micros(to) - micros(from), what);
      const all = rowsOf(rows, { ...query, from: '1970-01-01T00:00:00Z', to: '2099-01-01T00:00:00Z' });
      assertFigures(
        before,
        all.filter((row) => row.startedAtMicros >= micros(from) && row.startedAtMicros < micros(to)),
        `${what} previous`,
      );
      compared += parts.size * trend.buckets.length;
    }
    if (isWhole) assert.ok(compared > QUERIES * 20, `only ${compared} cells`);
  });

  it('200 with what summary, breakdown, spend and list say of the same window', async () => {
    const { client } = account;
    for (const filters of [{}, { model_alias: 'a/one' }, { project_id: projectIds[0] ?? '' }] as Query[]) {
      const window = { from: '2026-09-01T00:00:00+05:30', to: '2026-11-20T10:30:00Z', ...filters };
      const trend = await callTrend(account, {
        ...window,
        interval: '1d',
        time_zone: 'Asia/Kolkata',
        group_by: 'model',
      });
      const breakdown = await client.call(analytics.getBreakdown, { query: window });
      const { per_bucket: _, rows: found, avg_total_ms, avg_ttft_ms, tokens_per_sec, ...rest } = trend.total;
      assert.deepEqual(rest, breakdown.total);
      const spend = await client.call(analytics.getSpend, {
        query: { ...window, interval: '1d', time_zone: 'Asia/Kolkata', limit: 100 },
      });
      assert.deepEqual(trend.buckets, spend.buckets);
      assert.deepEqual(trend.total.per_bucket.cost_pkr, spend.total.costs_pkr);
      const { model_alias, ...others } = window as Record<string, string>;
      const list = await client.call(analytics.listRequests, {
        query: { ...others, ...(model_alias ? { model: model_alias } : {}) },
      });
      assert.equal(found, list.total);
      const recent = await callTrend(account, { ...filters, time_range: '30d', interval: '1d' });
      const summary = await client.call(analytics.getSummary, { query: { ...filters, time_range: '30d' } });
      const {
        requests,
        tokens,
        avg_total_ms: latency,
        avg_ttft_ms: ttft,
        tokens_per_sec: speed,
      } = recent.total;
      assert.deepEqual(
        [requests, tokens, latency, ttft, speed],
        [
          summary.total_requests,
          summary.total_token_usage,
          summary.avg_e2e_latency_ms,
          summary.avg_ttft_ms,
          summary.avg_tokens_per_sec,
        ],
      );
    }
  });

  it('reads the hourly rollup for the sums that it has, whatever else is wanted', async () => {
    const deadline = () => startDeadline(60_000);
    const organizationId = account.organizationId as OrganizationId;
    const filters = { projectId: undefined, keyId: undefined, model: undefined };
    const scope = { organizationId, fromMicros: NOW - 90n * DAY, toMicros: NOW, ...filters };
    const part = { scope, filter: NO_FILTER, requestsPerHour: undefined };
    const starts = [Number(scope.fromMicros / 86_400_000_000n) * 86_400];
    for (const by of [undefined, 'model', 'key', 'project'] as const)
      for (const [figures, expected] of [
        [analytics.TREND_FIGURES, 1],
        [['tokens', 'ttft_ms'], 1],
        [['avg_ttft_ms', 'total_ms'], 1],
        [['tokens_per_sec', 'errors'], 1],
        [['total_ms'], 0],
      ] as const) {
        let used = 0;
        const session = {
          async row(query: TelemetryQuery<unknown>) {
            const explain = { ...query, sql: `EXPLAIN ${query.sql}` } as TelemetryQuery<{ explain: string }>;
            const lines = await queryRows(telemetry.client, explain, deadline());
            if (lines.some(({ explain: line }) => /ReadFrom\w+ \(hourly_by_/.test(line))) used += 1;
            return (await queryRows(telemetry.client, query, deadline()))[0];
          },
        } as unknown as QuerySession;
        const groups = by && { by: { by }, labels: ['a/one'].filter(() => by === 'model') };
        await findCells(session, part, { starts, groups, figures });
        assert.equal(used, expected, `${by} ${figures}`);
      }
  });

  it('has the same cells from the hourly rollup and from the rows', async () => {
    const session = {
      row: async (query: never) => (await queryRows(telemetry.client, query, startDeadline(60_000)))[0],
    } as unknown as QuerySession;
    const organizationId = account.organizationId as OrganizationId;
    const filters = { projectId: undefined, keyId: undefined, model: undefined };
    const scope = { organizationId, fromMicros: NOW - 90n * DAY, toMicros: NOW, ...filters };
    const from = Number(scope.fromMicros / 1_000_000n);
    // Days that begin a quarter past the hour, so that their hours are split.
    const starts = Array.from(
      { length: 91 },
      (_, day) => Math.floor(from / 86_400) * 86_400 + day * 86_400 + 900,
    );
    starts.unshift((starts[0] ?? 0) - 86_400);
    for (const by of [undefined, 'model', 'key', 'project'] as const) {
      const both = [undefined, 0].map(async (requestsPerHour) => {
        const part = { scope, filter: NO_FILTER, requestsPerHour };
        const ranked = by && (await session.row(rankGroups(part, { by }, 3)));
        const groups = by && ranked && { by: { by }, labels: ranked.labels };
        const usesRollup = hasRollup(part, { starts, groups });
        return {
          usesRollup,
          cells: await findCells(session, part, { starts, groups, figures: analytics.TREND_FIGURES }),
        };
      });
      const [fromRollup, fromRows] = await Promise.all(both);
      assert.deepEqual([fromRollup?.usesRollup, fromRows?.usesRollup], [true, false]);
      assert.ok((fromRollup?.cells.get(0)?.size ?? 0) > 50);
      const plain = (one: typeof fromRows) =>
        [...(one?.cells ?? [])].map(([place, cells]) => [place, [...cells].sort(([a], [b]) => a - b)]).sort();
      assert.deepEqual(plain(fromRollup), plain(fromRows), String(by));
    }
  });
});
