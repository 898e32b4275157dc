import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { createTestTelemetry, type TestTelemetry } from '@gatehouse/store/testing';
import { waitFor } from '../testing/wait-for.ts';
import {
  askTelemetry,
  askTelemetryForLines,
  type Question,
  startBudget,
  TelemetryUnavailable,
} from './ask-telemetry.ts';

// What one question may take in the engine. Each question is past one limit; the engine must say so by itself, and be
// as well as before.
const QUESTIONS: Readonly<Record<string, { sql: string; reason: RegExp }>> = {
  memory: {
    // Kept by a state that no file can take.
    sql: 'SELECT length(groupArray(number)) AS n FROM numbers(200000000)',
    reason: /MEMORY_LIMIT_EXCEEDED|memory limit exceeded/i,
  },
  'rows of the answer': {
    sql: 'SELECT number FROM numbers(1000001)',
    reason: /TOO_MANY_ROWS_OR_BYTES|Limit for result exceeded/,
  },
  'rows that are read': {
    sql: 'SELECT count() AS n FROM numbers(2000000001) WHERE number % 7 = 3',
    reason: /TOO_MANY_ROWS|Limit for rows/,
  },
};

// Hours of work in one thread; the mark makes it recognisable among what runs.
const endless = (mark: string): Question<unknown> => ({
  sql: `SELECT count() AS n FROM numbers(1000000000) AS a, numbers(1000000) AS b WHERE sipHash64(a.number, b.number) = 1 AND '${mark}' != ''`,
  values: {},
});

describe('a question past a limit', () => {
  let telemetry: TestTelemetry;
  before(async () => {
    telemetry = await createTestTelemetry();
  });
  after(() => telemetry[Symbol.asyncDispose]());

  const ways = {
    askTelemetry: (question: Question<unknown>, ms = 60_000) =>
      askTelemetry(telemetry.client, question, startBudget(ms)),
    askTelemetryForLines: async (question: Question<unknown>, ms = 60_000) =>
      (await askTelemetryForLines(telemetry.client, question, startBudget(ms))).lines,
  };

  const isWell = async () =>
    assert.deepEqual(await ways.askTelemetry({ sql: 'SELECT 1 AS one', values: {} }), [{ one: 1 }]);

  const running = async (mark: string) => {
    const count = `SELECT toString(count()) AS n FROM system.processes
                   WHERE position(query, '${mark}') > 0 AND position(query, 'system.processes') = 0`;
    const [row] = await askTelemetry<{ n: string }>(
      telemetry.client,
      { sql: count, values: {} },
      startBudget(60_000),
    );
    return Number(row?.n);
  };

  for (const [way, ask] of Object.entries(ways)) {
    for (const [limit, { sql, reason }] of Object.entries(QUESTIONS)) {
      it(`of ${limit} is refused by the engine, by ${way}`, async () => {
        await assert.rejects(ask({ sql, values: {} }), (error) => {
          assert.ok(error instanceof TelemetryUnavailable);
          assert.match(String(error.cause), reason);
          return true;
        });
        await isWell();
      });
    }

    it(`of time is stopped in the engine as well, by ${way}`, async () => {
      const mark = randomUUID();
      await assert.rejects(ask(endless(mark), 300), TelemetryUnavailable);
      await waitFor('the end of the query', async () => (await running(mark)) === 0);
      await isWell();
    });

    it(`of anything that changes something is refused, by ${way}`, async () => {
      for (const sql of [
        "INSERT INTO request_log (request_id, timestamp) SELECT 'x', now()",
        'TRUNCATE TABLE request_log',
        'DROP TABLE request_log',
        'CREATE TABLE t (a Int8) ENGINE = Memory',
        'ALTER TABLE request_log DELETE WHERE 1',
        'SELECT 1 SETTINGS readonly = 0',
      ]) {
        await assert.rejects(ask({ sql, values: {} }), (error) => {
          assert.match(String((error as Error).cause), /READONLY|readonly/, sql);
          return true;
        });
      }
      const [row] = await askTelemetry<{ n: string }>(
        telemetry.client,
        {
          sql: 'SELECT toString(count()) AS n FROM system.tables WHERE database = currentDatabase()',
          values: {},
        },
        startBudget(60_000),
      );
      assert.ok(Number(row?.n) > 2);
      assert.deepEqual(await ask({ sql: 'SELECT request_id FROM request_log', values: {} }).then(String), '');
    });

    it(`that nobody waits for any more is stopped in the engine, by ${way}`, async () => {
      const mark = randomUUID();
      const gone = new AbortController();
      const budget = startBudget(60_000, gone.signal);
      const asked =
        way === 'askTelemetry'
          ? askTelemetry(telemetry.client, endless(mark), budget)
          : askTelemetryForLines(telemetry.client, endless(mark), budget);
      const refused = assert.rejects(asked, TelemetryUnavailable);
      await waitFor('the start of the query', async () => (await running(mark)) === 1);
      gone.abort();
      await refused;
      await waitFor('the end of the query', async () => (await running(mark)) === 0);
    });
  }
});
