import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { describe, test } from 'node:test';
import { ClickHouseError } from '@clickhouse/client';
import { createTelemetryClient } from '@gatehouse/store';
import { rowsOf } from '@gatehouse/store/testing';
import { useTestEngine, waitFor } from '../testing/test-engine.ts';

/** Would run for minutes. */
const SLOW = 'SELECT sum(sipHash64(number)) FROM numbers(100000000000)';

const telemetry = await useTestEngine();
const db = await telemetry.createDatabase();

describe('parameters', () => {
  const hostile = [
    '',
    "'",
    "a'b''c",
    '\\',
    "\\'",
    'ends in \\',
    '\\N',
    'NULL',
    '{value:String}',
    "'; DROP TABLE request_log; --",
    '-- { serverError 62 }',
    '`"$$x$$',
    '100%_%2e',
    'tab\tline\nreturn\rnext',
    '\n\n',
    'nul\0inside',
    '\u0001\u001f\u007f',
    'é 漢字 🙂 \u{10ffff}',
    '\\x41\\0\\t',
    'x'.repeat(100_000),
  ];

  test('come back unchanged, whatever they contain', async () => {
    for (const value of hostile) {
      const [row] = await rowsOf(
        db.client,
        'SELECT {value:String} AS text, {list:Array(String)} AS list, {map:Map(String, String)} AS map',
        { value, list: [value, 'b'], map: new Map([[value, value]]) },
      );
      assert.deepEqual(row, { text: value, list: [value, 'b'], map: { [value]: value } });
    }
  });

  test('of each type, and null', async () => {
    const [row] = await rowsOf(
      db.client,
      `SELECT {id:UUID} AS id, {big:Int64} AS big, {none:Nullable(String)} AS none, {ids:Array(UUID)} AS ids,
        {at:DateTime64(6, 'UTC')} AS at, {rate:Float64} AS rate FROM {table:Identifier} RIGHT JOIN system.one ON 1 LIMIT 1`,
      {
        id: '3179124e-5bfd-4cff-b5b6-3a14f4cddb23',
        big: 9_007_199_254_740_993n,
        none: null,
        ids: ['3179124e-5bfd-4cff-b5b6-3a14f4cddb23'],
        at: '2026-11-20 10:15:30.123456',
        rate: 0.5,
        table: 'request_log',
      },
    );
    assert.deepEqual(row, {
      id: '3179124e-5bfd-4cff-b5b6-3a14f4cddb23',
      big: '9007199254740993',
      none: null,
      ids: ['3179124e-5bfd-4cff-b5b6-3a14f4cddb23'],
      at: '2026-11-20 10:15:30.123456',
      rate: 0.5,
    });
  });

  test('and settings of concurrent calls do not mix', async () => {
    const numbers = Array.from({ length: 60 }, (_, index) => index + 1);
    const answers = await Promise.all(
      numbers.map(async (number) => {
        const answer = await db.client.query({
          query: "SELECT {value:String} AS value, getSetting('max_block_size') AS size",
          query_params: { value: `v${number}` },
          clickhouse_settings: { max_block_size: String(1000 + number) },
          format: 'JSONEachRow',
        });
        return (await answer.json())[0];
      }),
    );
    assert.deepEqual(
      answers,
      numbers.map((number) => ({ value: `v${number}`, size: 1000 + number })),
    );
    const left = await rowsOf(db.client, "SELECT value FROM system.settings WHERE name = 'max_block_size'");
    assert.notEqual((left[0] as { value: string }).value, '1060');
    await assert.rejects(rowsOf(db.client, 'SELECT {value:String}'), { code: '456' });
  });
});

describe('answers', () => {
  test('in the formats that the client parses', async () => {
    const query = 'SELECT number AS n, toString(number) AS s FROM numbers(3)';
    const json = await (await db.client.query({ query })).json();
    assert.deepEqual(
      json.data,
      [0, 1, 2].map((n) => ({ n: String(n), s: String(n) })),
    );
    const compact = await db.client.query({ query, format: 'JSONCompactEachRow' });
    assert.deepEqual(
      await compact.json(),
      [0, 1, 2].map((n) => [String(n), String(n)]),
    );
    const csv = await db.client.query({ query, format: 'CSVWithNames' });
    assert.equal(await csv.text(), '"n","s"\n0,"0"\n1,"1"\n2,"2"\n');
    const shown = await db.client.query({
      query: `SHOW TABLES FROM ${db.database} LIKE 'key_last_used'`,
      format: 'CSV',
    });
    assert.equal(await shown.text(), '"key_last_used"\n');
    assert.deepEqual(await rowsOf(db.client, 'SELECT 1 WHERE 0'), []);
  });

  test('of any size need bounded memory in the engine', { skip: process.platform !== 'linux' }, async () => {
    const resident = () => {
      const status = readFileSync(`/proc/${telemetry.engine.enginePid()}/status`, 'utf8');
      return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
    };
    const before = resident();
    let [rows, most] = [0, 0];
    const answer = await db.client.query({
      query: "SELECT number, concat(toString(number), repeat('x', 200)) FROM numbers(2000000)",
      format: 'JSONCompactEachRow',
      clickhouse_settings: { max_block_size: '8192' },
    });
    for await (const chunk of answer.stream()) {
      rows += chunk.length;
      most = Math.max(most, resident());
    }
    assert.equal(rows, 2_000_000);
    assert.ok(most - before < 200, `the engine grew by ${most - before} MB for an answer of 440 MB`);
  });

  test('that must be whole are limited in size', async () => {
    const query = 'SELECT hex(sipHash128(number)) AS x, (SELECT 1) AS y FROM numbers(10000000)';
    await assert.rejects(rowsOf(db.client, query), { code: '396', type: 'TOO_MANY_ROWS_OR_BYTES' });
  });
});

describe('errors', () => {
  test('become ClickHouseError with code and type', async () => {
    const cases: [string, string, string][] = [
      ['SELEC 1', '62', 'SYNTAX_ERROR'],
      ['SELECT 1; SELECT 2', '62', 'SYNTAX_ERROR'],
      ['SELECT * FROM nowhere', '60', 'UNKNOWN_TABLE'],
      ['SELECT nothing', '47', 'UNKNOWN_IDENTIFIER'],
      ['SELECT throwIf(1) -- { serverError 395 }\n', '395', 'FUNCTION_THROW_IF_VALUE_IS_NON_ZERO'],
      ['SELECT groupArray(number) FROM numbers(1000000000)', '241', 'MEMORY_LIMIT_EXCEEDED'],
    ];
    for (const [query, code, type] of cases) {
      const error = await rowsOf(db.client, query).then(
        () => null,
        (reason: unknown) => reason,
      );
      assert.ok(error instanceof ClickHouseError, `${query}: ${error}`);
      assert.deepEqual([error.code, error.type], [code, type], query);
    }
    await assert.rejects(
      db.client.command({ query: 'SELECT 1', clickhouse_settings: { nothing: 1 } as never }),
      {
        code: '115',
      },
    );
    const lost = createTelemetryClient(telemetry.engine, { database: 'nowhere' });
    await assert.rejects(rowsOf(lost, 'SELECT 1'), { code: '81' });
    await lost.close();
  });

  test('in the middle of an answer are not read as its end', async () => {
    const query = 'SELECT number, throwIf(number = 300000) FROM numbers(1000000)';
    await assert.rejects(rowsOf(db.client, query), { code: '395' });
  });

  test('what the engine does differently from a server is rejected: compression, sessions, writes by GET', async () => {
    assert.equal(await send('POST', '/', 'SELECT 1', { 'content-encoding': 'gzip' }), 501);
    assert.equal(
      await send('POST', '/', 'SELECT 1', { 'content-type': 'multipart/form-data; boundary=x' }),
      501,
    );
    assert.equal(await send('GET', '/?query=CREATE+DATABASE+x', ''), 403);
    assert.equal(await send('GET', '/?query=SELECT+1', ''), 200);
    assert.equal(await send('POST', '/?session_id=x', 'SELECT 1'), 501);
    assert.equal(await send('POST', '/', `SELECT '${'x'.repeat(9_000_000)}'`), 413);
    assert.equal(await send('GET', '/other', ''), 404);
    assert.equal(await send('GET', '/ping', ''), 200);
  });
});

describe('slow queries', () => {
  const BOTH = [SLOW, `SELECT (${SLOW}) AS of_a_subquery`];

  test('are stopped by max_execution_time, in a subquery too', async () => {
    const settings = { max_execution_time: 0.5 };
    const calls = BOTH.map((query) =>
      assert.rejects(db.client.query({ query, format: 'JSONEachRow', clickhouse_settings: settings }), {
        code: '159',
        type: 'TIMEOUT_EXCEEDED',
      }),
    );
    await Promise.all(calls);
  });

  test('do not block the next, in a subquery either', async () => {
    const abort = new AbortController();
    let settled = 0;
    const calls = BOTH.map((query) =>
      db.client.query({ query, format: 'JSONEachRow', abort_signal: abort.signal }).finally(() => settled++),
    );
    const ended = Promise.allSettled(calls);
    await waitFor('both to run', async () => (await runningSlow()) === 2);
    assert.deepEqual(await rowsOf(db.client, 'SELECT 1 AS one'), [{ one: 1 }]);
    assert.equal(settled, 0, 'the next query waited for the slow ones');
    abort.abort();
    await ended;
    await waitFor('both to stop', async () => (await runningSlow()) === 0);
  });

  test('stop in the engine when the client aborts, in both kinds of answers', async () => {
    for (const format of ['JSONEachRow', 'JSON'] as const) {
      const abort = new AbortController();
      const call = db.client.query({ query: SLOW, format, abort_signal: abort.signal });
      await waitFor('the query to run', async () => (await runningSlow()) === 1);
      abort.abort();
      await assert.rejects(call, /aborted/);
      await waitFor('the query to stop', async () => (await runningSlow()) === 0, 5_000);
    }
  });

  test('stop when the answer is closed early', async () => {
    const query = 'SELECT sipHash64(number) FROM numbers(100000000000)';
    const answer = await db.client.query({ query, format: 'JSONEachRow' });
    for await (const rows of answer.stream()) if (rows.length > 0) break;
    answer.close();
    await waitFor('the query to stop', async () => (await runningSlow()) === 0, 5_000);
  });

  test('queue when all permits are taken, and aborted ones leave the queue', async () => {
    const abort = new AbortController();
    const start = () =>
      db.client.query({ query: SLOW, abort_signal: abort.signal, format: 'JSONEachRow' }).catch(() => 'left');
    const calls = [start(), start()];
    await waitFor('two to run', async () => (await runningSlow()) === 2);
    calls.push(start(), start(), start());
    // This query waits behind them, so an answer means that they have left the queue.
    const nextQuery = runningSlow();
    abort.abort();
    assert.deepEqual(await Promise.all(calls), Array(5).fill('left'));
    await nextQuery;
    await waitFor('all to stop', async () => (await runningSlow()) === 0, 5_000);
  });
});

async function runningSlow(): Promise<number> {
  const query =
    "SELECT toUInt32(count()) AS n FROM system.processes WHERE query LIKE '%100000000000)%' AND query NOT LIKE '%processes%'";
  return (await rowsOf<{ n: number }>(telemetry.client, query))[0]?.n ?? 0;
}

function send(
  method: string,
  path: string,
  body: string,
  headers: Record<string, string> = {},
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const { socketPath } = telemetry.engine;
  const call = request({ socketPath, path, method, headers, agent: false }, (response) => {
    response.resume();
    response.on('end', () => resolve(response.statusCode ?? 0));
  });
  call.on('error', reject);
  call.end(body);
  return promise;
}
