import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { casesOf } from '@gatehouse/concurrency/testing';
import { analytics, keys } from '@gatehouse/contract';
import { queryRows, type RequestLogRow, startDeadline } from '@gatehouse/store';
import { createTestTelemetry, runSql, type TestTelemetry } from '@gatehouse/store/testing';
import { NOW } from '../testing/analytics-api.ts';
import { type KeyAccount, shareKeys, signUpForKeys } from '../testing/key-account.ts';
import { MODELS, requestsOf } from '../testing/reference-figures.ts';
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
import { breakdown, breakdownOfMany, type Groups } from './breakdown/telemetry.ts';
import { NO_FILTER } from './rules.ts';

// Random queries over random rows: every figure of every group must be what a loop over the rows computes. A failure
// reports the query, and SEED reproduces it.
const ROWS = 1_500;
const { seed: SEED, count: QUERIES, isWhole } = casesOf(20_261_124, 70);

const { below, pick, maybe, random } = seeded(SEED);
describe('breakdowns', () => {
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
    const choices = { below, pick, maybe, random };
    rows = randomOutcomes(choices, { organizationId, projectIds, keyIds }, ROWS);
    const { organizationId: stranger } = await api.signUp();
    await addRequests(telemetry, [...rows, ...rows.map((row) => ({ ...row, organizationId: stranger }))]);
  });
  after(() => stack.disposeAsync());

  type Figures = Awaited<ReturnType<typeof callBreakdown>>['total'];
  const callBreakdown = (query: Query) => account.client.call(analytics.getBreakdown, { query });

  function assertFigures(figures: Figures, part: readonly RequestLogRow[], what: string): void {
    const { requests, errors, tokens, cost_pkr, total_ms, ttft_ms } = figures;
    const { times: exactTimes, ...sums } = figuresOf(part);
    assert.deepEqual({ requests, errors, tokens, costMicroPkr: Math.round(cost_pkr * 1e6) }, sums, what);
    const times = [total_ms.p50, total_ms.p95, ttft_ms.p50, ttft_ms.p95];
    for (const [nth, time] of times.entries()) {
      const exact = exactTimes[nth] ?? null;
      const isClose =
        time === null || exact === null ? time === exact : Math.abs(time - exact) <= exact / 500;
      assert.ok(isClose, `${what}: ${time} for ${exact}`);
    }
  }

  it('200 with what the rows add up to, for every query', async () => {
    let compared = 0;
    for (let nth = 0; nth < QUERIES; nth += 1) {
      const days = 1 + below(90);
      const at = (daysAgo: number) =>
        new Date(Number(NOW / 1000n) - daysAgo * 86_400_000 + below(1e7)).toISOString();
      const query: Query = {
        group_by: GROUPINGS[nth % GROUPINGS.length] ?? '',
        limit: pick(['1', '2', '3', '100']),
        ...pick<Query>([
          { time_range: pick(['1s', '24h', '50h', '90d', '3650d']) },
          { from: at(days) },
          { from: at(days + 1), to: at(below(days)) },
        ]),
        ...maybe(0.25, () => ({ project_id: pick(projectIds) })),
        ...maybe(0.25, () => ({ key_id: pick(keyIds) })),
        ...maybe(0.2, () => ({ model_alias: pick(MODELS) })),
        ...maybe(0.15, () => ({ status_category: pick(analytics.STATUS_CATEGORIES) })),
        ...maybe(0.15, () => ({ termination_reason: pick(analytics.TERMINATION_REASONS) })),
        ...maybe(0.25, () => ({ error_code: pick(['any', 'upstream_429', 'upstream_timeout', 'none']) })),
        ...maybe(0.15, () => ({ min_cost_pkr: pick(['0.5', '5', '11']) })),
        ...maybe(0.15, () => ({ search: pick(['re', "O'B", '\\', 'r11', '%']) })),
      };
      const what = JSON.stringify(query);
      const limit = Number(query['limit']);
      const part = rowsOf(rows, query);
      const parts = Map.groupBy(part, (row) => groupOf(row, query['group_by'] ?? '', keyIds, memberIds));
      const { total, groups, other } = await callBreakdown(query);
      assertFigures(total, part, what);
      for (const { group, ...figures } of groups)
        assertFigures(figures, parts.get(group) ?? [], `${what} ${group}`);
      const listed = new Set(groups.map(({ group }) => group));
      assert.equal(listed.size, Math.min(parts.size, limit), what);
      const ranked = [...parts.values()].map(requestsOf).sort((a, b) => b - a);
      assert.deepEqual(
        groups.map(({ requests }) => requests),
        ranked.slice(0, limit),
        what,
      );
      assert.equal(other?.groups ?? 0, parts.size - listed.size, what);
      if (other) {
        const rest = part.filter(
          (row) => !listed.has(groupOf(row, query['group_by'] ?? '', keyIds, memberIds)),
        );
        assertFigures(other, rest, `${what} other`);
      }
      compared += parts.size;
    }
    if (isWhole) assert.ok(compared > QUERIES * 2, `only ${compared} groups`);
  });

  it('has the same query results for a few groups and for many', async () => {
    const run = async (query: ReturnType<typeof breakdown>) =>
      (await queryRows(telemetry.client, query, startDeadline(60_000)))[0]?.found;
    const { organizationId } = account;
    const filters = { projectId: undefined, keyId: undefined, model: undefined };
    const scope = { organizationId, fromMicros: 0n, toMicros: NOW, ...filters };
    const environments = new Map([
      ['testing', keyIds.slice(0, 1)],
      ['development', keyIds.slice(1)],
    ]) as never;
    const all: Groups[] = [
      { by: 'status' },
      { by: 'error_code' },
      { by: 'model' },
      { by: 'key' },
      { by: 'project' },
      { by: 'termination_reason' },
      { by: 'environment', keys: environments },
      { by: 'member', keys: environments },
      { by: 'metadata', name: 'team' },
    ];
    for (const groups of all) {
      for (const limit of [1, 2, 3, 100]) {
        const few = await run(breakdown(scope, NO_FILTER, groups, limit));
        assert.ok(few && few.length > 1);
        assert.deepEqual(
          await run(breakdownOfMany(scope, NO_FILTER, groups, limit)),
          few,
          `${groups.by} ${limit}`,
        );
      }
    }
  });
});
