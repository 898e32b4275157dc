import { randomUUID } from 'node:crypto';
import { createTelemetryClient, migrateTelemetry } from '../clickhouse/index.ts';
import type { TelemetryClient } from '../index.ts';
import { testServers } from './test-servers.ts';

/** A new, migrated telemetry database on the engine of the test run; dropped when disposed. */
export interface TestTelemetry extends AsyncDisposable {
  readonly client: TelemetryClient;
  readonly database: string;
}

export async function createTestTelemetry(): Promise<TestTelemetry> {
  const { clickhouse } = await testServers();
  const database = `test_${randomUUID().replaceAll('-', '')}`;
  await migrateTelemetry(clickhouse, { database });
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
