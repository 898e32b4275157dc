import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { analytics, durationFromText, keys, microPkrCeiling, organization } from '@gatehouse/contract';
import { type RequestLogRow, statement } from '@gatehouse/store';
import { NOW, SECOND, startAnalyticsApi } from '../testing/analytics-api.ts';
import { referenceFigure, requestsOf } from '../testing/reference-figures.ts';
import { addRequests, requestRow } from '../testing/requests.ts';
import { seeded } from '../testing/seeded.ts';

// Random rows and random questions; every answer must be the one that plain code below gives. A failure names the
// question, and SEED makes the same one again.
const SEED = 20_261_120;
const ROWS = 400;
const QUESTIONS = 100;

const insertProject = statement<{ id: string }>(
  'test-insert-project',
  `INSERT INTO projects (organization_id, name) VALUES ($1, 'second') RETURNING id`,
);

const { random, below, pick, maybe } = seeded(SEED);

// Characters that mean something to a pattern, to SQL or to case folding.
const ALPHABET = [
  'a',
  'A',
  'b',
  'B',
  '_',
  '%',
  "'",
  '\\',
  '"',
  ' ',
  'é',
  'É',
  'ж',
  'Ж',
  'Σ',
  'σ',
  'ς',
  'İ',
  '😀',
  '\n',
];
const text = (length: number) => Array.from({ length }, () => pick(ALPHABET)).join('');

type Question = Partial<
  Record<
    | 'time_range'
    | 'project_id'
    | 'key_id'
    | 'model'
    | 'status_category'
    | 'termination_reason'
    | 'min_cost_pkr'
    | 'search',
    string
  >
>;

interface World {
  readonly organizationId: string;
  readonly projectIds: readonly string[];
  readonly keyIds: readonly string[];
}

const MODELS = ['a/one', 'A/one', 'a/two'];

function randomRow(world: World, index: number): RequestLogRow {
  const stream = random() < 0.5;
  return requestRow({
    organizationId: world.organizationId,
    // Some at the very ends of the windows that are asked for, some in the future.
    startedAtMicros:
      NOW - pick([0n, -1n, 3600n * SECOND, 3600n * SECOND + 1n, BigInt(below(200_000)) * SECOND]),
    requestId: `${text(3)}${index}`,
    keyId: pick([null, ...world.keyIds]),
    projectId: pick([null, ...world.projectIds]),
    model: pick(MODELS),
    status: pick([200, 201, 302, 400, 429, 499, 500, 503]),
    isStream: stream,
    totalMs: 1000 + below(1000) / 8,
    ttftMs: stream && random() < 0.8 ? below(500) / 4 : null,
    preDispatchMs: below(50) / 2,
    tokensGenerated: pick([0, below(1000)]),
    totalTokens: below(5000),
    costMicroPkr: pick([0n, 1n, 100_000n, BigInt(below(10_000_000))]),
    terminationReason: pick(analytics.TERMINATION_REASONS),
    userAgent: 'aAbB',
    upstreamError: 'aAbB',
    requestCount: pick([1, 1, 2 + below(100)]),
    metadata: new Map(Array.from({ length: below(4) }, () => [text(2), text(below(6))])),
  });
}

function randomQuestion(world: World): Question {
  const question: { [Name in keyof Question]: string | undefined } = {
    time_range: maybe(0.6, () => pick(['1s', '1h', '3600s', '1d', '2d', '3650d'])),
    project_id: maybe(0.3, () => pick(world.projectIds)),
    key_id: maybe(0.3, () => pick(world.keyIds)),
    model: maybe(0.3, () => pick(MODELS)),
    status_category: maybe(0.3, () => pick(analytics.STATUS_CATEGORIES)),
    termination_reason: maybe(0.2, () => pick([...analytics.TERMINATION_REASONS, 'other'])),
    min_cost_pkr: maybe(0.2, () => pick(['0', '0.000001', '0.1', '0.1000001', '5'])),
    search: maybe(0.5, () => text(1 + below(2))),
  };
  return Object.fromEntries(
    Object.entries(question).filter(([, value]) => value !== undefined && value.trim() !== ''),
  ) as Question;
}

// What is a substring regardless of case, said as plainly as can be.
const fold = (value: string) => value.toLowerCase().replaceAll('ς', 'σ');

function matching(rows: readonly RequestLogRow[], question: Question): RequestLogRow[] {
  const { seconds } = durationFromText(question.time_range ?? '24h') ?? assert.fail();
  return rows.filter(
    (row) =>
      row.startedAtMicros <= NOW &&
      row.startedAtMicros >= NOW - BigInt(seconds) * SECOND &&
      (question.project_id === undefined || row.projectId === question.project_id) &&
      (question.key_id === undefined || row.keyId === question.key_id) &&
      (question.model === undefined || row.model === question.model) &&
      (question.status_category === undefined || `${String(row.status)[0]}xx` === question.status_category) &&
      (question.termination_reason === undefined || row.terminationReason === question.termination_reason) &&
      (question.min_cost_pkr === undefined ||
        row.costMicroPkr >= (microPkrCeiling(question.min_cost_pkr) ?? assert.fail())) &&
      (question.search === undefined ||
        [row.requestId, ...[...row.metadata].flat()].some((part) =>
          fold(part).includes(fold(question.search as string)),
        )),
  );
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const mean = (values: readonly number[]) => (values.length === 0 ? null : sum(values) / values.length);

function summarised(rows: readonly RequestLogRow[]) {
  const timed = rows.flatMap((row) => {
    const ms = row.isStream
      ? row.ttftMs !== null && row.totalMs - row.ttftMs
      : row.totalMs - row.preDispatchMs;
    return row.tokensGenerated > 0 && ms !== false ? [{ tokens: row.tokensGenerated, ms }] : [];
  });
  const ms = sum(timed.map((row) => row.ms));
  return {
    total_requests: requestsOf(rows),
    avg_e2e_latency_ms: referenceFigure(rows, 'latency'),
    avg_ttft_ms: mean(rows.flatMap((row) => row.ttftMs ?? [])),
    avg_tokens_per_sec: ms > 0 ? sum(timed.map((row) => row.tokens)) / (ms / 1000) : null,
    total_token_usage: sum(rows.map((row) => row.totalTokens)),
  };
}

function assertClose(actual: number | null, expected: number | null, what: string): void {
  if (actual === null || expected === null) assert.equal(actual, expected, what);
  else assert.ok(Math.abs(actual - expected) <= 1e-9 * Math.abs(expected), `${what}: ${actual}, ${expected}`);
}

// By bytes, as the store orders text.
const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

describe('the filters of analytics', () => {
  it(`200 with what plain code finds, for ${QUESTIONS} random questions`, async () => {
    await using started = await startAnalyticsApi();
    const { api, telemetry } = started;
    const [{ client, organizationId }, stranger] = [await api.signUp(), await api.signUp()];
    const { projects } = await client.call(organization.listProjects);
    const second = await api.database.one(insertProject, [organizationId]);
    const projectIds = [projects[0]?.id ?? '', second?.id ?? ''];
    const keyIds = [];
    for (const project_id of [...projectIds, ...projectIds]) {
      keyIds.push((await client.call(keys.createKey, { body: { project_id, name: 'k' } })).id);
    }
    const world: World = { organizationId, projectIds, keyIds };
    const rows = Array.from({ length: ROWS }, (_, index) => randomRow(world, index));
    // The same rows in another organisation, which must never count.
    await addRequests(
      telemetry,
      rows.map((row) => ({ ...row, organizationId: stranger.organizationId })),
    );
    await addRequests(telemetry, rows);

    for (let asked = 0; asked < QUESTIONS; asked += 1) {
      const question = randomQuestion(world);
      const what = `seed ${SEED}, question ${asked}: ${JSON.stringify(question)}`;
      const expected = matching(rows, question).toSorted(
        (a, b) => Number(b.startedAtMicros - a.startedAtMicros) || byBytes(b.requestId, a.requestId),
      );
      const [limit, offset] = [1 + below(200), pick([0, below(expected.length + 2)])];
      const page = await client.call(analytics.listRequests, { query: { ...question, limit, offset } });
      assert.equal(page.total, expected.length, what);
      assert.deepEqual(
        page.requests.map((row) => row.req_id),
        expected.slice(offset, offset + limit).map((row) => row.requestId),
        what,
      );

      const { model, time_range, project_id, key_id } = question;
      const scope = { time_range: time_range ?? '', project_id: project_id ?? '', key_id: key_id ?? '' };
      const summary = await client.call(analytics.getSummary, {
        query: { ...scope, model_alias: model ?? '' },
      });
      const inScope = matching(rows, {
        ...(model === undefined ? {} : { model }),
        ...(time_range === undefined ? {} : { time_range }),
        ...(project_id === undefined ? {} : { project_id }),
        ...(key_id === undefined ? {} : { key_id }),
      });
      const figures = summarised(inScope);
      assert.equal(summary.total_requests, figures.total_requests, what);
      assert.equal(summary.total_token_usage, figures.total_token_usage, what);
      assertClose(summary.avg_e2e_latency_ms, figures.avg_e2e_latency_ms, what);
      assertClose(summary.avg_ttft_ms, figures.avg_ttft_ms, what);
      assertClose(summary.avg_tokens_per_sec, figures.avg_tokens_per_sec, what);
      assert.equal(
        summary.total_cost_pkr,
        key_id === undefined
          ? undefined
          : Number(inScope.reduce((total, row) => total + row.costMicroPkr, 0n)) / 1_000_000,
        what,
      );
    }
  });
});
