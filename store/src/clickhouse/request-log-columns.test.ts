import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createTestTelemetry, type TestTelemetry } from '../testing/index.ts';
import { rowsOf } from '../testing/rows-of.ts';
import { type RequestLogKind, requestLogColumns } from './request-log-columns.ts';

const ENGINE_TYPES: Readonly<Record<RequestLogKind, string>> = {
  uuid: 'UUID',
  requestId: 'String',
  reference: 'UUID',
  text: 'String',
  termination: 'String',
  labels: 'Map(String, String)',
  attempts: 'String',
  boolean: 'Bool',
  flag: 'UInt8',
  status: 'UInt16',
  count: 'UInt64',
  requests: 'UInt32',
  milliseconds: 'Float64',
  microPkr: 'Int64',
  instant: "DateTime64(6, 'UTC')",
};

describe('the columns of the request log', () => {
  let telemetry: TestTelemetry;
  before(async () => {
    telemetry = await createTestTelemetry();
  });
  after(() => telemetry[Symbol.asyncDispose]());

  it('are those of the engine, with the same types, nulls and defaults', async () => {
    const stored = await rowsOf<{ name: string; type: string; default: string }>(
      telemetry.client,
      `SELECT name, replaceRegexpAll(type, 'LowCardinality\\\\(([A-Za-z()]+?)\\\\)(,|\\\\)|$)', '\\\\1\\\\2') AS type,
              default_expression AS default
       FROM system.columns
       WHERE database = currentDatabase() AND table = 'request_log' AND default_kind IN ('', 'DEFAULT')`,
    );
    const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
    assert.deepEqual(
      stored.sort(byName),
      requestLogColumns
        .map(({ name, kind, isNullable, absent }) => ({
          name,
          type: isNullable ? `Nullable(${ENGINE_TYPES[kind]})` : ENGINE_TYPES[kind],
          default: String(absent ?? ''),
        }))
        .sort(byName),
    );
  });
});
