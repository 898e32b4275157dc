import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { createTestTelemetry, type TestTelemetry } from '../testing/index.ts';
import { queryLines, queryRows, startDeadline, TelemetryUnavailableError } from './run-query.ts';
import { fragment, rawSql, telemetryQuery, text } from './telemetry-query.ts';

let telemetry: TestTelemetry;
before(async () => {
  telemetry = await createTestTelemetry();
});
after(() => telemetry[Symbol.asyncDispose]());

const constant = <Row>(sql: string) => telemetryQuery<Row>(rawSql(sql));
const rows = <Row>(sql: string, deadline = startDeadline(60_000)) =>
  queryRows(telemetry.client, constant<Row>(sql), deadline);
const lines = (sql: string, deadline = startDeadline(60_000), maxBytes?: number) =>
  queryLines(telemetry.client, constant(sql), deadline, maxBytes);

/** Hours of work in one thread; the mark identifies it in the list of running queries. */
const endless = (mark: string) =>
  `SELECT count() AS n FROM numbers(1000000000) AS a, numbers(1000000) AS b WHERE sipHash64(a.number, b.number) = 1 AND '${mark}' != ''`;

async function untilRunning(mark: string, expected: 0 | 1): Promise<void> {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const [row] = await rows<{ n: string }>(
      `SELECT toString(count()) AS n FROM system.processes
       WHERE position(query, '${mark}') > 0 AND position(query, 'system.processes') = 0`,
    );
    if (Number(row?.n) === expected) return;
    assert.ok(performance.now() < deadline, `waited for ${expected} running queries, found ${row?.n}`);
  }
}

const causedBy = (cause: RegExp) => (error: unknown) => {
  assert.ok(error instanceof TelemetryUnavailableError);
  assert.match(String(error.cause), cause);
  return true;
};

// Each is past one limit; the engine must end it itself and stay healthy.
const PAST_A_LIMIT: Readonly<Record<string, readonly [sql: string, cause: RegExp]>> = {
  // A state that cannot spill to disk.
  memory: [
    'SELECT length(groupArray(number)) AS n FROM numbers(200000000)',
    /MEMORY_LIMIT_EXCEEDED|memory limit exceeded/i,
  ],
  'result rows': ['SELECT number FROM numbers(1000001)', /TOO_MANY_ROWS_OR_BYTES|Limit for result exceeded/],
  'rows to read': [
    'SELECT count() AS n FROM numbers(2000000001) WHERE number % 7 = 3',
    /TOO_MANY_ROWS|Limit for rows/,
  ],
};

const CHANGES = [
  "INSERT INTO request_log (request_id, timestamp) SELECT 'x', now()",
  'TRUNCATE TABLE request_log',
  'DROP TABLE request_log',
  'CREATE TABLE t (a Int8) ENGINE = Memory',
  'ALTER TABLE request_log DELETE WHERE 1',
  'SELECT 1 SETTINGS readonly = 0',
];

for (const [name, run] of Object.entries({ queryRows: rows, queryLines: lines })) {
  describe(name, () => {
    const isHealthy = async () => assert.deepEqual(await rows('SELECT 1 AS one'), [{ one: 1 }]);

    for (const [limit, [sql, cause]] of Object.entries(PAST_A_LIMIT)) {
      it(`throws past the limit of ${limit}, with the engine's reason as the cause`, async () => {
        await assert.rejects(run(sql), causedBy(cause));
        await isHealthy();
      });
    }

    it('throws past the deadline, and the engine stops', async () => {
      const mark = randomUUID();
      await assert.rejects(run(endless(mark), startDeadline(300)), TelemetryUnavailableError);
      await untilRunning(mark, 0);
      await isHealthy();
    });

    it('throws when a signal of the deadline aborts, and the engine stops', async () => {
      const mark = randomUUID();
      const gone = new AbortController();
      const rejected = assert.rejects(
        run(endless(mark), startDeadline(60_000, gone.signal)),
        TelemetryUnavailableError,
      );
      await untilRunning(mark, 1);
      gone.abort();
      await rejected;
      await untilRunning(mark, 0);
    });

    it('sends nothing past the deadline', async () => {
      await assert.rejects(
        run('SELECT 1', startDeadline(60_000, AbortSignal.abort())),
        causedBy(/AbortError/),
      );
    });

    it('changes nothing, whatever the query says', async () => {
      for (const sql of CHANGES) await assert.rejects(run(sql), causedBy(/READONLY|readonly/), sql);
      const [row] = await rows<{ n: string }>(
        'SELECT toString(count()) AS n FROM system.tables WHERE database = currentDatabase()',
      );
      assert.ok(Number(row?.n) > 2);
      assert.deepEqual(await rows('SELECT request_id FROM request_log'), []);
    });
  });
}

it('binds values as they are', async () => {
  const value = "a\\'b\n\t') OR 1=1-- {y:String} %27 é😀";
  const query = telemetryQuery<{ value: string; length: string }>(
    fragment`SELECT ${text('value', value)} AS value, toString(length(value)) AS length FROM numbers(2)`,
  );
  const row = { value, length: String(Buffer.byteLength(value)) };
  assert.deepEqual(await queryRows(telemetry.client, query, startDeadline(60_000)), [row, row]);
});

it('gives the engine the remaining time and the memory limit', async () => {
  const [limits] = await rows<{ seconds: number; bytes: string }>(
    `SELECT toFloat64(getSetting('max_execution_time')) AS seconds,
            toString(getSetting('max_memory_usage')) AS bytes`,
    startDeadline(30_000),
  );
  assert.ok(limits && limits.seconds > 0 && limits.seconds <= 30);
  assert.equal(limits.bytes, String(512 * 1024 * 1024));
});

it('returns the lines that fit into maxBytes, and one line at least', async () => {
  // {"text":"xxx..."} and the end of the line.
  const LINE = 112;
  for (const [maxBytes, expected] of [
    [1, 1],
    [LINE - 1, 1],
    [LINE, 1],
    [2 * LINE - 1, 1],
    [2 * LINE, 2],
    [1_000 * LINE, 1_000],
  ] as const) {
    const sql = "SELECT repeat('x', 100) AS text FROM numbers(1000000)";
    const answer = await lines(sql, startDeadline(60_000), maxBytes);
    assert.deepEqual([answer.lines.length, answer.isComplete], [expected * LINE, false]);
  }
  const few = await lines('SELECT number FROM numbers(3)', startDeadline(60_000), 10_000);
  assert.deepEqual([few.lines.toString().split('\n').length, few.isComplete], [4, true]);
});
