import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createTelemetryClient, dueTelemetryMigrations, migrateTelemetry } from '../clickhouse/index.ts';
import { rowsOf } from './rows-of.ts';
import { testServers } from './test-servers.ts';
import { createTestTelemetry } from './test-telemetry.ts';

describe('a telemetry database for tests', () => {
  test('has what the migrations make, its history included', async () => {
    const { clickhouse } = await testServers();
    await using clone = await createTestTelemetry();
    const { database } = clone;
    const migrated = `${database}_migrated`;
    await using admin = createTelemetryClient(clickhouse, { database: null });
    await migrateTelemetry(clickhouse, { database: migrated });
    const schemaOf = async (name: string) =>
      (
        await rowsOf<{ query: string }>(
          admin,
          'SELECT create_table_query AS query FROM system.tables WHERE database = {name:String} ORDER BY name',
          { name },
        )
      ).map(({ query }) => query.replaceAll(name, 'database'));
    const schema = await schemaOf(migrated);
    assert.ok(schema.some((query) => query.includes('PROJECTION hourly_by_key')));
    assert.ok(schema.some((query) => query.includes('MATERIALIZED VIEW')));
    assert.deepEqual(await schemaOf(database), schema);
    const historyOf = (name: string) =>
      rowsOf(
        admin,
        `SELECT version, name, checksum, works_with FROM ${name}.schema_migrations ORDER BY version`,
      );
    assert.deepEqual(await historyOf(database), await historyOf(migrated));
    assert.deepEqual(await dueTelemetryMigrations(clickhouse, { database }), []);
    await admin.command({ query: `DROP DATABASE ${migrated} SYNC` });
  });

  test('is empty and of its own', async () => {
    await using one = await createTestTelemetry();
    await using other = await createTestTelemetry();
    assert.notEqual(one.database, other.database);
    const insert = (key: string) =>
      one.client.command({
        query: `INSERT INTO key_last_used (organization_id, key_id, last_used_at) SELECT '${key}', '${key}', now64(6)`,
      });
    await insert('00000000-0000-4000-8000-000000000001');
    const count = async (client: typeof one.client) =>
      (await rowsOf<{ n: string }>(client, 'SELECT count() AS n FROM key_last_used'))[0]?.n;
    assert.deepEqual([await count(one.client), await count(other.client)], ['1', '0']);
  });
});
