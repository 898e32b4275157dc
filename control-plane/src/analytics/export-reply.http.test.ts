import assert from 'node:assert/strict';
import { request } from 'node:http';
import { describe, it } from 'node:test';
import { keys } from '@gatehouse/contract';
import type { TelemetryClient } from '@gatehouse/store';
import { NOW, SECOND, startAnalyticsApi } from '../testing/analytics-api.ts';
import { BREAKAGES, type Breakage, bounded, startBrokenTelemetry } from '../testing/broken-telemetry.ts';
import { comparable } from '../testing/comparable.ts';
import { duringTests } from '../testing/during-tests.ts';
import { signUpForKeys } from '../testing/key-account.ts';
import {
  askForExport,
  CSV,
  exportedNdjson,
  exportRequest,
  exportText,
  NDJSON,
} from '../testing/request-log-export.ts';
import { addRequests, requestRow } from '../testing/requests.ts';
import { type SignedUp, startTestApi, type TestApi } from '../testing/test-api.ts';
import { waitFor } from '../testing/wait-for.ts';
import { watchedTelemetry } from '../testing/watched-telemetry.ts';

const PAGES = { points: 1_000, buckets: 1_000, rows: 5, bytes: 10_000_000 };
const TYPES = [CSV, NDJSON] as const;

// Those that only the time limit ends.
const SILENT: readonly Breakage[] = [
  'never answers',
  'stalls after the headers',
  'stalls in the middle of the rows',
];

describe('the reply to an export', () => {
  const started = duringTests(() => startAnalyticsApi({ pages: PAGES }));

  it('200 with a name for the file, of the window that was applied', async () => {
    const account = await started.api.signUp();
    for (const [query, name] of [
      [{}, 'requests-24h'],
      [{ time_range: '7d' }, 'requests-7d'],
      [{ time_range: '999999999999d' }, 'requests-3650d'],
      [
        { from: '2026-11-01T00:00:00+05:00', to: '2026-11-20T00:00:00Z' },
        'requests-20261031T190000Z-20261120T000000Z',
      ],
    ] as const) {
      const { headers } = await askForExport(account, CSV, query);
      assert.equal(headers['content-disposition'], `attachment; filename="${name}.csv"`);
      assert.equal(headers['content-type'], 'text/csv; charset=utf-8');
      const lines = await askForExport(account, NDJSON, query);
      assert.equal(lines.headers['content-disposition'], `attachment; filename="${name}.ndjson"`);
      assert.equal(lines.headers['content-type'], 'application/x-ndjson; charset=utf-8');
    }
  });

  it('200 in the format that Accept prefers, with Vary', async () => {
    const account = await started.api.signUp();
    await started.add(account, [{}]);
    for (const [accept, type] of [
      [undefined, 'application/json'],
      ['text/html', 'application/json'],
      ['text/csv;q=0.5, application/json;q=0.4', CSV],
      [NDJSON, NDJSON],
    ] as const) {
      const { status, headers } = await askForExport(account, accept);
      assert.deepEqual(
        [status, headers['content-type'], headers['vary']],
        [200, `${type}; charset=utf-8`, 'Accept'],
        accept,
      );
    }
  });

  it('401, 400 and 404 as in JSON', async () => {
    const [account, stranger] = [await started.api.signUp(), await signUpForKeys(started.api)];
    const foreign = await stranger.client.call(keys.createKey, {
      body: { project_id: stranger.projectId, name: 'k' },
    });
    const anonymous = started.api.anonymous();
    for (const accept of TYPES) {
      const path = '/api/analytics/requests?limit=x&status_category=9xx';
      const reply = await anonymous.raw({ method: 'GET', path, headers: { accept } });
      assert.deepEqual([reply.status, reply.text], [401, '{"detail":"Unauthorized"}']);
      for (const [query, status] of [
        [{ limit: 'x' }, 400],
        [{ key_id: foreign.id }, 404],
      ] as const) {
        const rejection = await askForExport(account, accept, query);
        assert.equal(rejection.status, status);
        assert.equal(rejection.headers['vary'], 'Accept');
        assert.equal(rejection.headers['content-disposition'], undefined);
        assert.deepEqual(comparable(rejection), comparable(await askForExport(account, undefined, query)));
      }
    }
  });
});

describe('an export whose telemetry store', () => {
  const started = duringTests(startAnalyticsApi);

  /** An API on the same store whose queries may go elsewhere, and an account with rows there. */
  async function withRows(
    rows: number,
    choose: (query: number) => Promise<TelemetryClient>,
    settings: { readonly analyticsTimeoutMs?: number } = {},
    retryDelaysMs: readonly number[] = [],
  ) {
    const stack = new AsyncDisposableStack();
    const telemetry = watchedTelemetry(started.telemetry.client, choose);
    const api = stack.use(
      await startTestApi(settings, { telemetry, nowMicros: () => NOW, pages: PAGES, retryDelaysMs }),
    );
    const account = await api.signUp();
    await started.add(
      account,
      Array.from({ length: rows }, (_, index) => ({
        requestId: `r${index}`,
        startedAtMicros: NOW - BigInt(index) * SECOND,
      })),
    );
    return { api, account, [Symbol.asyncDispose]: () => stack.disposeAsync() };
  }

  for (const breakage of Object.keys(BREAKAGES) as Breakage[]) {
    it(`503 before anything is sent when it ${breakage}`, async () => {
      await using broken = await startBrokenTelemetry(breakage, { request_id: 'r', micros: '1' });
      await using api = await startTestApi({ analyticsTimeoutMs: 300 }, { telemetry: broken.client });
      const account = await api.signUp();
      for (const type of TYPES) {
        const reply = await bounded(askForExport(account, type));
        assert.deepEqual([reply.status, reply.text], [503, '{"error":"analytics backend unavailable"}']);
        assert.equal(reply.headers['content-type'], 'application/json; charset=utf-8');
      }
    });

    it(`is aborted when it ${breakage} after the first page`, async () => {
      await using broken = await startBrokenTelemetry(breakage, { request_id: 'r', micros: '1' });
      await using set = await withRows(
        12,
        async (query) => (query === 1 ? started.telemetry.client : broken.client),
        // The first page, which a real store gives, has to come within the limit as well.
        SILENT.includes(breakage) ? { analyticsTimeoutMs: 4_000 } : {},
      );
      const { status, text, isWhole } = await bounded(read(set.api, set.account));
      assert.deepEqual([status, isWhole], [200, false]);
      const ids = text.split('\n').flatMap((line) => /^\{"req_id":"(\w+)"/.exec(line)?.[1] ?? []);
      assert.deepEqual(ids, ['r0', 'r1', 'r2', 'r3', 'r4']);
      // The cause, once.
      assert.equal(set.api.logLines.filter(({ msg }) => msg !== 'request').length, 1);
    });
  }

  it('gets each query of a later page again after each delay', async () => {
    await using broken = await startBrokenTelemetry('hangs up');
    const sent: number[] = [];
    const isBroken = (query: number) => [2, 3, 5, 6].includes(query);
    await using set = await withRows(
      12,
      async (query) => {
        sent.push(query);
        return isBroken(query) ? broken.client : started.telemetry.client;
      },
      {},
      [1, 1],
    );
    const { text, isWhole } = await read(set.api, set.account);
    assert.deepEqual([isWhole, text.split('\n').length, sent.length], [true, 13, 7]);
    const causes = set.api.logLines.filter(({ msg }) => msg !== 'request');
    assert.deepEqual(
      causes.map(({ msg }) => msg),
      Array(4).fill('analytics query failed: telemetry store unavailable'),
    );
  });

  it('gets rows during the export: none appears twice, none of the old ones is missed', async () => {
    let account: SignedUp | undefined;
    const add = async (query: number) => {
      if (query > 1 && account) {
        const { organizationId } = account;
        const rows = [0, 1, 11].map((age) => ({
          requestId: `late${age}-${query}`,
          startedAtMicros: NOW - BigInt(age) * SECOND - 1n,
        }));
        await addRequests(
          started.telemetry,
          rows.map((row) => requestRow({ organizationId, ...row })),
        );
      }
      return started.telemetry.client;
    };
    await using set = await withRows(12, add);
    account = set.account;
    const ids = (await exportedNdjson(account)).map((row) => row.req_id);
    assert.equal(new Set(ids).size, ids.length);
    assert.deepEqual(
      ids.filter((id) => id.startsWith('r')),
      Array.from({ length: 12 }, (_, index) => `r${index}`),
    );
    // Those that lie after what was read already came along, and in their places.
    assert.deepEqual(
      ids.filter((id) => id.startsWith('late')),
      ['late11-3', 'late11-2'],
    );
  });

  it('gets no more queries once the caller has left', async () => {
    let queries = 0;
    await using set = await withRows(0, async () => {
      queries += 1;
      return started.telemetry.client;
    });
    // More than the buffers between the two hold: pages that are not read are not queried.
    const pages = 60;
    const userAgent = 'x'.repeat(200_000);
    for (let page = 0; page < pages; page += 1)
      await started.add(
        set.account,
        Array.from({ length: PAGES.rows }, () => ({ userAgent })),
      );
    const left = Promise.withResolvers<void>();
    const outgoing = request({ host: '127.0.0.1', port: set.api.port, ...exportRequest(set.account, CSV) });
    outgoing.on('response', (incoming) => {
      incoming.once('data', () => {
        incoming.pause();
        outgoing.destroy();
      });
      incoming.on('error', () => undefined);
      incoming.on('close', left.resolve);
    });
    outgoing.on('error', () => undefined);
    outgoing.end();
    await left.promise;
    const read = await exportText(set.account, CSV);
    assert.ok(read.length > pages * PAGES.rows * userAgent.length);
    // The second export queried all pages; the first, whose reader left, did not.
    assert.ok(queries < 2 * pages, `${queries} queries`);
    // The engine sends the end of an answer a moment before it removes the query from its list.
    await waitFor('the queries to end', async () => {
      const running = await started.telemetry.client.query({
        query: `SELECT count() AS n FROM system.processes WHERE query LIKE '%user_agent, metadata%FROM request_log%'
                AND query NOT LIKE '%system.processes%' AND current_database = currentDatabase()`,
        format: 'JSONEachRow',
      });
      return (await running.json<{ n: string }>())[0]?.n === '0';
    });
  });
});

/** An export as far as it comes, and whether it came to its end. */
function read(api: TestApi, account: SignedUp): Promise<{ status: number; text: string; isWhole: boolean }> {
  return new Promise((resolve, reject) => {
    const sent = { host: '127.0.0.1', port: api.port, ...exportRequest(account, NDJSON) };
    const outgoing = request(sent, (incoming) => {
      let text = '';
      incoming.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      incoming.on('error', () => undefined);
      incoming.on('close', () =>
        resolve({ status: incoming.statusCode ?? 0, text, isWhole: incoming.complete }),
      );
    });
    outgoing.on('error', reject);
    outgoing.end();
  });
}
