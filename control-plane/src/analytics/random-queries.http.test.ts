import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { casesOf } from '@gatehouse/concurrency/testing';
import { analytics, durationFromText, keys, microPkrCeiling, organization } from '@gatehouse/contract';
import type { RequestLogRow } from '@gatehouse/store';
import { runSql } from '@gatehouse/store/testing';
import { NOW, SECOND, startAnalyticsApi } from '../testing/analytics-api.ts';
import { addRequests, requestRow } from '../testing/requests.ts';
import { seeded } from '../testing/seeded.ts';

// Random rows and random queries. Every page must be the one that the plain code below computes. A failure reports the
// query, and SEED reproduces it.
const ROWS = 400;
const { seed: SEED, count: QUERIES } = casesOf(20_261_120, 100);

const { random, below, pick, maybe } = seeded(SEED);

// Characters that mean something to a pattern, to SQL or to case folding.
const ALPHABET = [...`aAbB_%'\\" éÉжЖΣσςİ😀\n`];
const text = (length: number) => Array.from({ length }, () => pick(ALPHABET)).join('');

type Query = Partial<
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

interface Ids {
  readonly organizationId: string;
  readonly projectIds: readonly string[];
  readonly keyIds: readonly string[];
}

const MODELS = ['a/one', 'A/one', 'a/two'];

function randomRow(ids: Ids, index: number): RequestLogRow {
  const stream = random() < 0.5;
  return requestRow({
    organizationId: ids.organizationId,
    // Some at the ends of the windows, some in the future.
    startedAtMicros:
      NOW - pick([0n, -1n, 3600n * SECOND, 3600n * SECOND + 1n, BigInt(below(200_000)) * SECOND]),
    requestId: `${text(3)}${index}`,
    keyId: pick([null, ...ids.keyIds]),
    projectId: pick([null, ...ids.projectIds]),
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

function randomQuery(ids: Ids): Query {
  const query: { [Name in keyof Query]: string | undefined } = {
    time_range: maybe(0.6, () => pick(['1s', '1h', '3600s', '1d', '2d', '3650d'])),
    project_id: maybe(0.3, () => pick(ids.projectIds)),
    key_id: maybe(0.3, () => pick(ids.keyIds)),
    model: maybe(0.3, () => pick(MODELS)),
    status_category: maybe(0.3, () => pick(analytics.STATUS_CATEGORIES)),
    termination_reason: maybe(0.2, () => pick([...analytics.TERMINATION_REASONS, 'other'])),
    min_cost_pkr: maybe(0.2, () => pick(['0', '0.000001', '0.1', '0.1000001', '5'])),
    search: maybe(0.5, () => text(1 + below(2))),
  };
  return Object.fromEntries(
    Object.entries(query).filter(([, value]) => value !== undefined && value.trim() !== ''),
  ) as Query;
}

// The plainest definition of a substring regardless of case.
const fold = (value: string) => value.toLowerCase().replaceAll('ς', 'σ');

function matching(rows: readonly RequestLogRow[], query: Query): RequestLogRow[] {
  const { seconds } = durationFromText(query.time_range ?? '24h') ?? assert.fail();
  return rows.filter(
    (row) =>
      row.startedAtMicros <= NOW &&
      row.startedAtMicros >= NOW - BigInt(seconds) * SECOND &&
      (query.project_id === undefined || row.projectId === query.project_id) &&
      (query.key_id === undefined || row.keyId === query.key_id) &&
      (query.model === undefined || row.model === query.model) &&
      (query.status_category === undefined || `${String(row.status)[0]}xx` === query.status_category) &&
      (query.termination_reason === undefined || row.terminationReason === query.termination_reason) &&
      (query.min_cost_pkr === undefined ||
        row.costMicroPkr >= (microPkrCeiling(query.min_cost_pkr) ?? assert.fail())) &&
      (query.search === undefined ||
        [row.requestId, ...[...row.metadata].flat()].some((part) =>
          fold(part).includes(fold(query.search as string)),
        )),
  );
}

// By bytes, as the store orders text.
const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

describe('the filters of the request log', () => {
  it(`200 with what plain code finds, for ${QUERIES} random querys`, async () => {
    await using started = await startAnalyticsApi();
    const { api, telemetry } = started;
    const [{ client, organizationId }, stranger] = [await api.signUp(), await api.signUp()];
    const { projects } = await client.call(organization.listProjects);
    const [second] = await runSql<{ id: string }>(api.database)`
      INSERT INTO projects (organization_id, name) VALUES (${organizationId}, 'second') RETURNING id`;
    const projectIds = [projects[0]?.id ?? '', second?.id ?? ''];
    const keyIds = [];
    for (const project_id of [...projectIds, ...projectIds]) {
      keyIds.push((await client.call(keys.createKey, { body: { project_id, name: 'k' } })).id);
    }
    const ids: Ids = { organizationId, projectIds, keyIds };
    const rows = Array.from({ length: ROWS }, (_, index) => randomRow(ids, index));
    // The same rows in another organisation, which must never appear.
    await addRequests(
      telemetry,
      rows.map((row) => ({ ...row, organizationId: stranger.organizationId })),
    );
    await addRequests(telemetry, rows);

    for (let nth = 0; nth < QUERIES; nth += 1) {
      const query = randomQuery(ids);
      const what = `seed ${SEED}, query ${nth}: ${JSON.stringify(query)}`;
      const expected = matching(rows, query).toSorted(
        (a, b) => Number(b.startedAtMicros - a.startedAtMicros) || byBytes(b.requestId, a.requestId),
      );
      const [limit, offset] = [1 + below(200), pick([0, below(expected.length + 2)])];
      const page = await client.call(analytics.listRequests, { query: { ...query, limit, offset } });
      assert.equal(page.total, expected.length, what);
      assert.deepEqual(
        page.requests.map((row) => row.req_id),
        expected.slice(offset, offset + limit).map((row) => row.requestId),
        what,
      );
    }
  });
});
