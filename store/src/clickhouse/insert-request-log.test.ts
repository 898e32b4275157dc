import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, test } from 'node:test';
import { type TestEngineDatabase, useTestEngine, waitFor } from '@gatehouse/embedded/testing';
import { hourlySums } from '../testing/hourly-sums.ts';
import { rowsOf } from '../testing/rows-of.ts';
import { insertRequestLog, REQUEST_LOG_BATCH_ROWS } from './insert-request-log.ts';
import { type Attempt, readAttempts } from './request-attempts.ts';
import type { RequestLogRow } from './request-log-columns.ts';

const ORGANIZATION = '3179124e-5bfd-4cff-b5b6-3a14f4cddb23';
const KEY = 'd50ade84-e664-4d69-8ead-7bb57bfb9be6';
const NOVEMBER = BigInt(Date.UTC(2026, 10, 20, 10, 15, 30)) * 1000n;
const DAY = 86_400_000_000n;

function row(over: Partial<RequestLogRow> = {}): RequestLogRow {
  return {
    organizationId: ORGANIZATION,
    startedAtMicros: NOVEMBER + 123_456n,
    requestId: 'req_Ä',
    keyId: KEY,
    projectId: '3179124e-5bfd-4cff-b5b6-3a14f4cddb24',
    model: 'openai/gpt-5-mini',
    status: 200,
    isStream: true,
    totalMs: 812.5,
    ttftMs: 101.25,
    tpotMs: 3.5,
    preDispatchMs: 0.4,
    promptTokens: 12,
    tokensGenerated: 34,
    cacheCreationInputTokens: 0,
    cacheReadInputTokens: null,
    totalTokens: 46,
    tokensEstimated: false,
    costMicroPkr: 9_007_199_254_740_993n,
    isByok: true,
    terminationReason: 'success',
    refusal: '',
    upstreamError: null,
    upstreamModel: 'gpt-5-mini',
    userAgent: 'Ünit/1.0',
    metadata: new Map(),
    attempts: [],
    ...over,
  };
}

const telemetry = await useTestEngine();

describe('insertRequestLog', () => {
  let db: TestEngineDatabase;
  beforeEach(async () => {
    db = await telemetry.createDatabase();
  });

  const insert = (rows: RequestLogRow[], token: string) =>
    insertRequestLog(db.client, rows, { token, database: db.database });

  /** How many rows there are. Fails unless the hourly rollup matches them. */
  async function count(): Promise<number> {
    const [log] = await rowsOf<{ n: string }>(db.client, 'SELECT count() AS n FROM request_log');
    const rows = Number(log?.n);
    if (rows > 0)
      assert.deepEqual(await hourlySums(db.client, 'projections'), await hourlySums(db.client, 'rows'));
    return rows;
  }

  const lastUses = () =>
    rowsOf(
      db.client,
      'SELECT key_id, max(last_used_at) AS last FROM key_last_used GROUP BY key_id ORDER BY key_id',
    );

  test('stores every field exactly', async () => {
    await insert([row()], 'a');
    const [stored] = await rowsOf(db.client, 'SELECT *, search_text FROM request_log');
    assert.deepEqual(stored, {
      organization_id: ORGANIZATION,
      timestamp: '2026-11-20 10:15:30.123456',
      request_id: 'req_Ä',
      key_id: KEY,
      project_id: '3179124e-5bfd-4cff-b5b6-3a14f4cddb24',
      model: 'openai/gpt-5-mini',
      status: 200,
      stream: true,
      total_ms: 812.5,
      ttft_ms: 101.25,
      tpot_ms: 3.5,
      pre_dispatch_ms: 0.4,
      prompt_tokens: '12',
      tokens_generated: '34',
      cache_creation_input_tokens: '0',
      cache_read_input_tokens: null,
      total_tokens: '46',
      tokens_estimated: false,
      cost_micro_pkr: '9007199254740993',
      is_byok: 1,
      termination_reason: 'success',
      refusal: '',
      upstream_error: null,
      upstream_model: 'gpt-5-mini',
      user_agent: 'Ünit/1.0',
      metadata: {},
      request_count: 1,
      attempts: '',
      search_text: 'req_ä',
    });
  });

  test('stores attempts as one text that gives them back', async () => {
    const attempts: readonly Attempt[] = [
      {
        provider: 'azure',
        upstreamModel: 'gpt-5-mini',
        credential: 'key "2"',
        isByok: false,
        status: null,
        startedMs: 0.4,
        totalMs: 12.125,
        ttftMs: null,
        promptTokens: null,
        tokensGenerated: 0,
        costMicroPkr: 9_007_199_254_740_993n,
        ending: 'unreachable',
        error: 'the connection was refused',
      },
    ];
    await insert([row({ attempts })], 'a');
    const [stored] = await rowsOf<{ attempts: string }>(db.client, 'SELECT attempts FROM request_log');
    assert.equal(
      stored?.attempts,
      '[["azure","gpt-5-mini","key \\"2\\"",0,null,0.4,12.125,null,null,0,"9007199254740993","unreachable","the connection was refused"]]',
    );
    assert.deepEqual(readAttempts(stored.attempts), attempts);
  });

  test('stores any metadata, and a search cannot match across two fields', async () => {
    const metadata = new Map([
      ['__proto__', 'x'],
      ['Team', 'Søk\n\nA'],
      ['quote', `'"\\; -- { serverError 241 }`],
    ]);
    await insert([row({ metadata, requestId: 'req' })], 'a');
    const [stored] = await rowsOf<{ metadata: object; search_text: string }>(
      db.client,
      'SELECT metadata, search_text FROM request_log',
    );
    assert.deepEqual(Object.entries(stored?.metadata ?? {}).sort(), [...metadata].sort());
    const fields = ['req', ...[...metadata].flat()].map((field) => field.toLowerCase());
    assert.deepEqual(stored?.search_text.split('\0').sort(), fields.sort());
  });

  test('the same token stores once, in the log and in its rollup; another stores the same rows again', async () => {
    const batch = [row(), row({ requestId: 'req_2' })];
    await insert(batch, 'one');
    await insert(batch, 'one');
    assert.equal(await count(), 2);
    await insert(batch, 'two');
    await insert(batch, 'one');
    assert.equal(await count(), 4);
  });

  test('a repeat adds what a crash left out: a later month, and the view', async () => {
    const months = [0n, 40n, 80n].map((days, n) =>
      row({ startedAtMicros: NOVEMBER + days * DAY, keyId: KEY.replace(/.$/, `${n}`) }),
    );
    await db.client.command({ query: 'DETACH TABLE key_last_used_from_request_log' });
    await insert(months.slice(0, 1), 'one');
    assert.deepEqual([await count(), await lastUses()], [1, []]);
    await db.client.command({ query: 'ATTACH TABLE key_last_used_from_request_log' });
    await insert(months, 'one');
    await insert(months, 'one');
    assert.equal(await count(), 3);
    assert.deepEqual(await lastUses(), [
      { key_id: KEY.replace(/.$/, '0'), last: '2026-11-20 10:15:30.000000' },
      { key_id: KEY.replace(/.$/, '1'), last: '2026-12-30 10:15:30.000000' },
      { key_id: KEY.replace(/.$/, '2'), last: '2027-02-08 10:15:30.000000' },
    ]);
  });

  test('batches across months are stored exactly once while the engine is killed again and again', async () => {
    let killing = true;
    let acknowledged = 0;
    const sending = (async () => {
      for (let batch = 0; killing; ) {
        const rows = Array.from({ length: 30 }, (_, n) => {
          return row({ requestId: `${batch}-${n}`, startedAtMicros: NOVEMBER + BigInt(n % 3) * 35n * DAY });
        });
        const sent = await insert(rows, `batch ${batch}`).then(
          () => true,
          () => false,
        );
        if (sent) {
          batch++;
          acknowledged += rows.length;
        } else await waitFor('the engine', () => telemetry.client.ping().then(({ success }) => success));
      }
    })();
    for (let kills = 0; kills < 5; kills++) {
      const target = acknowledged + 60;
      const pid = await waitFor('some batches', () => acknowledged >= target && telemetry.engine.enginePid());
      process.kill(pid, 'SIGKILL');
      await waitFor('another engine', () => telemetry.engine.enginePid() !== pid);
    }
    killing = false;
    await sending;
    assert.equal(await count(), acknowledged);
    const [unique] = await rowsOf<{ n: string }>(
      db.client,
      'SELECT uniqExact(request_id) AS n FROM request_log',
    );
    assert.equal(Number(unique?.n), acknowledged);
  });

  test('key_last_used has the last use of a key, rejected requests included', async () => {
    await insert(
      [
        row({ startedAtMicros: NOVEMBER + 1n }),
        row({ status: 429, refusal: 'rate_limit_exceeded', startedAtMicros: NOVEMBER + DAY }),
        row({ keyId: null, projectId: null, startedAtMicros: NOVEMBER + 2n * DAY }),
      ],
      'a',
    );
    await insert([row({ startedAtMicros: NOVEMBER })], 'b');
    assert.deepEqual(await lastUses(), [{ key_id: KEY, last: '2026-11-21 10:15:30.000000' }]);
  });

  test('a batch of 10,000 rows is one block', async () => {
    const rows = Array.from({ length: REQUEST_LOG_BATCH_ROWS }, (_, n) =>
      row({
        requestId: randomUUID(),
        startedAtMicros: NOVEMBER + BigInt(n),
        metadata: new Map([['run', `r${n}`]]),
      }),
    );
    await insert(rows, 'one');
    await insert(rows, 'one');
    assert.equal(await count(), REQUEST_LOG_BATCH_ROWS);
    await assert.rejects(insert([...rows, row()], 'two'), RangeError);
  });

  test('rejects what the store would wrap or drop, and names it', async () => {
    const invalid: [Partial<RequestLogRow>, RegExp][] = [
      [{ status: 70_000 }, /^request_log\.status of request req_Ä: 70000 is not an integer/],
      [{ totalTokens: 1.5 }, /request_log\.total_tokens/],
      [{ promptTokens: -1 }, /request_log\.prompt_tokens/],
      [{ costMicroPkr: 2n ** 63n }, /request_log\.cost_micro_pkr/],
      [{ startedAtMicros: -1n }, /request_log\.timestamp/],
      [{ startedAtMicros: BigInt(Date.UTC(2100, 0, 1)) * 1000n }, /request_log\.timestamp/],
      [{ totalMs: Number.NaN }, /request_log\.total_ms/],
      [{ keyId: 'none' }, /request_log\.key_id/],
      [{ organizationId: `{${ORGANIZATION}}` }, /request_log\.organization_id/],
      [{ model: undefined as never }, /request_log\.model/],
    ];
    for (const [over, message] of invalid) {
      await assert.rejects(insert([row(), row(over)], 'a'), (error: Error) => {
        assert.ok(error instanceof RangeError);
        assert.match(error.message, message);
        return true;
      });
    }
    await assert.rejects(insert([row()], ''), RangeError);
    await insert([], 'a');
    assert.equal(await count(), 0);
  });
});
