import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { casesOf } from '@gatehouse/concurrency/testing';
import { analytics, type OrganizationId } from '@gatehouse/contract';
import {
  queryLines,
  queryRows,
  type RequestLogRow,
  startDeadline,
  type TelemetryQuery,
} from '@gatehouse/store';
import { createTestTelemetry, type TestTelemetry } from '@gatehouse/store/testing';
import type { Owned } from '../../keys/index.ts';
import { NOW } from '../../testing/analytics-api.ts';
import {
  MODELS,
  type Owners,
  randomRows,
  referenceFigure,
  referenceSeries,
  requestsOf,
  rowsOfPart,
} from '../../testing/reference-figures.ts';
import { addRequests } from '../../testing/requests.ts';
import { seeded } from '../../testing/seeded.ts';
import type { Scope } from '../telemetry.ts';
import { rollupWindow } from './rules.ts';
import { points, type Series, type SummaryRow, summary } from './telemetry.ts';

// Random windows over random rows, each answered from the hourly rollup and from the rows: both must be, digit for digit,
// what plain code computes. A failure reports the query, and SEED reproduces it.
const ROWS = 1_500;
const { seed: SEED, count: QUERIES, isWhole } = casesOf(20_261_121, 120);

const HOUR = 3_600_000_000n;
const DAY = 24n * HOUR;
const { below, pick, maybe, random } = seeded(SEED);

describe('figures from the hourly rollup', () => {
  let telemetry: TestTelemetry;
  let owners: Owners;
  let rows: readonly RequestLogRow[];

  before(async () => {
    telemetry = await createTestTelemetry();
    owners = {
      organizationId: randomUUID(),
      projectIds: [randomUUID(), randomUUID()],
      keyIds: [randomUUID(), randomUUID(), randomUUID()],
    };
    rows = randomRows({ below, pick, maybe, random }, owners, NOW, ROWS);
    // The same rows in another organisation must never count.
    const stranger = randomUUID();
    const all = [...rows, ...rows.map((row) => ({ ...row, organizationId: stranger }))];
    await addRequests(telemetry, all.slice(ROWS / 2));
    await addRequests(telemetry, all.slice(0, ROWS / 2));
  });
  after(() => telemetry[Symbol.asyncDispose]());

  /** An end of a window: now, in the middle of an hour, at its edge, or beside a row. */
  function randomEnd(): bigint {
    const some = NOW - BigInt(below(5)) * DAY - BigInt(below(86_400)) * 1_000_000n;
    const row = pick(rows).startedAtMicros;
    const edge = pick([(some / HOUR) * HOUR, row, (row / HOUR + 1n) * HOUR]);
    return pick([NOW, some, edge + BigInt(below(4) - 2)]);
  }

  function randomScope(): Scope {
    const toMicros = randomEnd();
    const span = BigInt(pick([0, 1, 30, 47, 48, 49, 50, 100, 1_000, 3_000, 25_000])) * HOUR;
    const start = toMicros - span - pick([0n, 1n, BigInt(below(3_600)) * 1_000_000n]);
    return {
      organizationId: owners.organizationId as OrganizationId,
      fromMicros: pick([start, start, (start / HOUR) * HOUR + BigInt(below(4) - 2)]),
      toMicros,
      projectId: maybe(0.25, () => pick(owners.projectIds) as Owned<'project'>),
      keyId: maybe(0.25, () => pick(owners.keyIds) as Owned<'key'>),
      model: maybe(0.25, () => pick(MODELS)),
    };
  }

  const randomSeries = (): Series => ({
    metric: pick(analytics.METRICS),
    grouping: pick(analytics.GROUPINGS),
    widthSeconds: pick([
      1,
      3_600,
      7_200,
      5 * 3_600,
      36 * 3_600,
      86_400,
      7 * 86_400,
      5_400,
      1 + below(1e6),
      1e11,
    ]),
  });

  const show = (nth: number, value: object) =>
    `seed ${SEED}, query ${nth}: ${JSON.stringify(value, (_, it) => (typeof it === 'bigint' ? `${it}` : it))}`;

  const deadline = () => startDeadline(30_000);

  it('are what the rows give, for random windows and filters', async () => {
    let byRollup = 0;
    for (let nth = 0; nth < QUERIES; nth += 1) {
      const scope = randomScope();
      const what = show(nth, scope);
      if (rollupWindow(scope)) byRollup += 1;
      const run = async (query: TelemetryQuery<SummaryRow>) => {
        const answered = await queryRows(telemetry.client, query, deadline());
        assert.equal(answered.length, 1, what);
        return answered[0];
      };
      const part = rowsOfPart(rows, scope);
      const plain: SummaryRow = {
        requests_text: `${requestsOf(part)}`,
        mean_total_ms: referenceFigure(part, 'latency'),
        mean_ttft_ms: referenceFigure(part, 'ttft'),
        tokens_a_second: referenceFigure(part, 'tok_s'),
        tokens_text: `${referenceFigure(part, 'token_usage') ?? 0}`,
        cost_text: `${part.reduce((sum, row) => sum + row.costMicroPkr, 0n)}`,
      };
      assert.deepEqual(await run(summary(scope)), plain, what);
      assert.deepEqual(await run(summary(scope, 0)), plain, what);
    }
    if (isWhole) assert.ok(byRollup > QUERIES / 4 && byRollup < QUERIES, `${byRollup} from the rollup`);
  });

  it('are what the rows give, for random series', async () => {
    let byRollup = 0;
    let found = 0;
    for (let nth = 0; nth < QUERIES; nth += 1) {
      const scope = randomScope();
      const series = randomSeries();
      const what = show(nth, { ...scope, ...series });
      if (rollupWindow(scope, series)) byRollup += 1;
      const run = async (given: Series) => {
        const query = points(scope, given, { limit: 100_000, after: undefined });
        return (await queryLines(telemetry.client, query, deadline())).lines.toString();
      };
      const text = await run(series);
      assert.equal(await run({ ...series, requestsPerHour: 0 }), text, what);
      const answered = text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
      const { metric, grouping, widthSeconds } = series;
      assert.deepEqual(
        answered,
        referenceSeries(rowsOfPart(rows, scope), metric, grouping, widthSeconds),
        what,
      );
      if (answered.length > 0) found += 1;
    }
    if (isWhole) assert.ok(byRollup > QUERIES / 8 && byRollup < QUERIES, `${byRollup} from the rollup`);
    if (isWhole) assert.ok(found > QUERIES / 2, `${found} found any`);
  });

  describe('are read from the rollup', () => {
    const scope = (given: Partial<Scope> = {}): Scope => ({
      organizationId: owners.organizationId as OrganizationId,
      fromMicros: NOW - 90n * DAY,
      toMicros: NOW,
      projectId: undefined,
      keyId: undefined,
      model: undefined,
      ...given,
    });

    /** The parts that the engine reads for a query: the table and projections, each once. */
    async function readBy(query: TelemetryQuery<unknown>): Promise<string[]> {
      const explain = { ...query, sql: `EXPLAIN ${query.sql}` };
      const lines = await queryRows<{ explain: string }>(telemetry.client, explain as never, deadline());
      const read = lines.flatMap(
        ({ explain: line }) => /ReadFrom\w+ \((?:.*\.)?(\w+)\)/.exec(line)?.[1] ?? [],
      );
      return [...new Set(read)].sort();
    }

    it('of the keys, where projects or keys are nth for', async () => {
      const keyId = randomUUID() as Owned<'key'>;
      const projectId = randomUUID() as Owned<'project'>;
      for (const query of [summary(scope({ keyId })), summary(scope({ projectId }))]) {
        assert.deepEqual(await readBy(query), ['hourly_by_key', 'request_log']);
      }
      for (const metric of analytics.METRICS) {
        for (const grouping of ['key', 'project'] as const) {
          const query = points(
            scope(),
            { metric, grouping, widthSeconds: 86_400 },
            { limit: 9, after: undefined },
          );
          assert.deepEqual(await readBy(query), ['hourly_by_key', 'request_log'], metric);
        }
      }
    });

    it('of the models, where models are nth for', async () => {
      assert.deepEqual(await readBy(summary(scope({ model: 'a/one' }))), ['hourly_by_model', 'request_log']);
      for (const metric of analytics.METRICS) {
        const query = points(
          scope(),
          { metric, grouping: 'model', widthSeconds: 3_600 },
          { limit: 9, after: undefined },
        );
        assert.deepEqual(await readBy(query), ['hourly_by_model', 'request_log'], metric);
      }
    });

    it('of either, where nothing in particular is nth for', async () => {
      const read = await readBy(summary(scope()));
      assert.equal(read.length, 2);
      assert.match(read.join(), /^hourly_by_(key|model),request_log$/);
    });

    it('and not where the rows are as fast, or no sums are kept by what is nth for', async () => {
      const keyId = randomUUID() as Owned<'key'>;
      for (const query of [
        summary(scope({ fromMicros: NOW - DAY })),
        summary(scope(), 1),
        summary(scope({ keyId, model: 'a/one' })),
        points(
          scope(),
          { metric: 'volume', grouping: 'model', widthSeconds: 1_800 },
          { limit: 9, after: undefined },
        ),
      ]) {
        assert.deepEqual(await readBy(query), ['request_log']);
      }
    });
  });
});
