import { randomUUID } from 'node:crypto';
import type { ClickHouseClient } from '@clickhouse/client';
import { createTelemetryClient, dueTelemetryMigrations, migrateTelemetry } from '../clickhouse/index.ts';
import type { TelemetryClient } from '../index.ts';
import { rowsOf } from './rows-of.ts';
import { withTestLock } from './test-database.ts';
import { testServers } from './test-servers.ts';

// The engine is the run's own, so is the template.
const TEMPLATE = 'test_template';

/** A new, migrated telemetry database on the engine of the test run; dropped when disposed. */
export interface TestTelemetry extends AsyncDisposable {
  readonly client: TelemetryClient;
  readonly database: string;
}

/**
 * Its tables are made as those of a migrated template, which is built at the first call of a run: all migrations together
 * cost the engine ten times as much as the tables that they come to.
 */
export async function createTestTelemetry(): Promise<TestTelemetry> {
  const { clickhouse } = await testServers();
  const database = `test_${randomUUID().replaceAll('-', '')}`;
  await ensureTemplate();
  {
    await using admin = createTelemetryClient(clickhouse, { database: null });
    await cloneTemplate(admin, database);
  }
  const client = createTelemetryClient(clickhouse, { database });
  return {
    client,
    database,
    async [Symbol.asyncDispose]() {
      await client.command({ query: `DROP DATABASE IF EXISTS ${database} SYNC` });
      await client.close();
    },
  };
}

/** Complete once nothing is due, because a migration is recorded after its last statement. */
async function ensureTemplate(): Promise<void> {
  const { clickhouse } = await testServers();
  const options = { database: TEMPLATE };
  if ((await dueTelemetryMigrations(clickhouse, options)).length === 0) return;
  await withTestLock(() => migrateTelemetry(clickhouse, options));
}

/** Empty tables, and the history of migrations. */
async function cloneTemplate(admin: ClickHouseClient, database: string): Promise<void> {
  const tables = await rowsOf<{ query: string }>(
    admin,
    // Tables first: a view names the table that it fills.
    `SELECT create_table_query AS query FROM system.tables WHERE database = {template:String}
     ORDER BY engine = 'MaterializedView', name`,
    { template: TEMPLATE },
  );
  await admin.command({ query: `CREATE DATABASE ${database} ENGINE = Atomic` });
  for (const { query } of tables) await admin.command({ query: query.replaceAll(TEMPLATE, database) });
  await admin.command({
    query: `INSERT INTO ${database}.schema_migrations SELECT * FROM ${TEMPLATE}.schema_migrations`,
  });
}
