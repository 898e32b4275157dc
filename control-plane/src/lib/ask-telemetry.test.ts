import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createTestTelemetry, type TestTelemetry } from '@gatehouse/store/testing';
import {
  askTelemetry,
  askTelemetryForLines,
  type Question,
  startBudget,
  TelemetryUnavailable,
} from './ask-telemetry.ts';

// Hours of work in one thread; the number makes it recognisable among what runs.
const ENDLESS = 'SELECT count() FROM numbers(1000000000000) WHERE sipHash64(number) = 20261120';

describe('askTelemetry', () => {
  let telemetry: TestTelemetry;
  before(async () => {
    telemetry = await createTestTelemetry();
  });
  after(() => telemetry[Symbol.asyncDispose]());

  const ask = <Row>(question: Question<Row>, ms = 30_000) =>
    askTelemetry(telemetry.client, question, startBudget(ms));

  it('returns the rows, with the values bound as they are', async () => {
    const value = "a\\'b\n\t') OR 1=1-- {y:String} %27 é😀";
    const rows = await ask<{ value: string; length: string }>({
      sql: 'SELECT {value:String} AS value, toString(length(value)) AS length FROM numbers(2)',
      values: { value },
    });
    const row = { value, length: String(Buffer.byteLength(value)) };
    assert.deepEqual(rows, [row, row]);
  });

  it('limits time and memory in the engine', async () => {
    const [limits] = await ask<{ seconds: number; bytes: string }>({
      sql: `SELECT toFloat64(getSetting('max_execution_time')) AS seconds,
                   toString(getSetting('max_memory_usage')) AS bytes`,
      values: {},
    });
    assert.ok(limits && limits.seconds > 0 && limits.seconds <= 30);
    assert.equal(limits.bytes, String(512 * 1024 * 1024));
  });

  it('throws past the budget, and the engine stops as well', async () => {
    await assert.rejects(ask({ sql: ENDLESS, values: {} }, 300), TelemetryUnavailable);
    const count: Question<{ running: string }> = {
      sql: `SELECT toString(count()) AS running FROM system.processes
            WHERE query LIKE 'SELECT count() FROM numbers%20261120%' AND current_database = currentDatabase()`,
      values: {},
    };
    const end = performance.now() + 30_000;
    let running: string | undefined;
    while (running !== '0' && performance.now() < end) running = (await ask(count))[0]?.running;
    assert.equal(running, '0');
  });

  it('throws before it asks when the budget is spent', async () => {
    const budget = startBudget(30_000);
    const spent = { ...budget, signal: AbortSignal.abort() };
    await assert.rejects(askTelemetry(telemetry.client, { sql: 'SELECT 1', values: {} }, spent), (error) => {
      assert.ok(error instanceof TelemetryUnavailable);
      assert.equal((error.cause as Error).name, 'AbortError');
      return true;
    });
  });

  it('throws for what the engine refuses, with its reason as the cause', async () => {
    await assert.rejects(ask({ sql: 'SELECT nothing_of_that_name', values: {} }), (error) => {
      assert.ok(error instanceof TelemetryUnavailable);
      assert.match(String(error.cause), /nothing_of_that_name/);
      return true;
    });
  });

  it('takes no more lines than come to so many bytes, but one at least', async () => {
    const question = { sql: "SELECT repeat('x', 100) AS text FROM numbers(1000000)", values: {} };
    // {"text":"xxx..."} and the end of the line.
    const LINE = 112;
    for (const [mostBytes, expected] of [
      [1, 1],
      [LINE - 1, 1],
      [LINE, 1],
      [2 * LINE - 1, 1],
      [2 * LINE, 2],
      [1_000 * LINE, 1_000],
    ] as const) {
      const { lines, isWhole } = await askTelemetryForLines(
        telemetry.client,
        question,
        startBudget(30_000),
        mostBytes,
      );
      assert.equal(lines.length, expected * LINE);
      assert.equal(isWhole, false);
    }
    const few = { sql: 'SELECT number FROM numbers(3)', values: {} };
    const { lines, isWhole } = await askTelemetryForLines(telemetry.client, few, startBudget(30_000), 10_000);
    assert.deepEqual([lines.toString().split('\n').length, isWhole], [4, true]);
  });
});
