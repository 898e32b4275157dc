import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { useTestEngine, waitFor } from '@gatehouse/embedded/testing';
import { requestLogRow } from '../testing/request-log-row.ts';
import { rowsOf } from '../testing/rows-of.ts';
import { createTelemetryClient } from './client.ts';
import { insertRequestLog } from './insert-request-log.ts';
import { migrateTelemetry, readTelemetryMigrations } from './migrate.ts';

// A store of version 5 with rows, migrated to the version that has keys and projects as texts.

const telemetry = await useTestEngine();
const KEYS = [randomUUID(), randomUUID(), null];
const PROJECTS = [randomUUID(), null];

const request = (n: number) =>
  requestLogRow({
    organizationId: KEYS[0] ?? '',
    startedAtMicros: BigInt(Date.UTC(2026, 8 + (n % 3), 1)) * 1000n + BigInt(n) * 600_000_000n,
    requestId: `request ${n}`,
    keyId: KEYS[n % 3] ?? null,
    projectId: PROJECTS[n % 2] ?? null,
  });
const some = (from: number) => Array.from({ length: 60 }, (_, n) => request(from + n));

describe('the migration to version 6', () => {
  test('has the key and the project of rows from before, at once and once they are stored', async () => {
    const database = 'old_5';
    await migrateTelemetry(telemetry.engine, { database, migrations: readTelemetryMigrations().slice(0, 5) });
    await using client = createTelemetryClient(telemetry.engine, { database });
    await insertRequestLog(client, some(0), { token: 'before', database });
    await client.command({ query: 'SYSTEM STOP MERGES request_log' });
    const applied = await Promise.all([1, 2].map(() => migrateTelemetry(telemetry.engine, { database })));
    assert.ok(applied.flat().includes(6));
    await insertRequestLog(client, some(60), { token: 'after', database });

    const groups = (key: string, project: string) =>
      rowsOf<{ key: string; project: string; rows: number }>(
        client,
        `SELECT ${key} AS key, ${project} AS project, toUInt32(count()) AS rows
         FROM request_log GROUP BY key, project ORDER BY key, project`,
      );
    const expected = await groups(`ifNull(toString(key_id), '')`, `ifNull(toString(project_id), '')`);
    assert.deepEqual([expected.length, expected[0]?.key, expected[0]?.rows], [6, '', 20]);
    assert.deepEqual(await groups('key_text', 'project_text'), expected);
    await client.command({ query: 'SYSTEM START MERGES request_log' });
    await waitFor('the columns', async () => {
      const open = await rowsOf(
        client,
        'SELECT 1 FROM system.mutations WHERE database = currentDatabase() AND NOT is_done LIMIT 1',
      );
      return open.length === 0;
    });
    assert.deepEqual(await groups('key_text', 'project_text'), expected);
    const [stored] = await rowsOf<{ lacking: number }>(
      client,
      `SELECT toUInt32(countIf(NOT has(names, 'key_text') OR NOT has(names, 'project_text'))) AS lacking
       FROM (SELECT groupArray(column) AS names FROM system.parts_columns
             WHERE active AND database = currentDatabase() AND table = 'request_log' GROUP BY name)`,
    );
    assert.equal(stored?.lacking, 0);
  });
});
