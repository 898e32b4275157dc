import type { TelemetryTarget } from '../clickhouse/index.ts';
import type { PostgresServer } from './test-database.ts';

/** The servers that a test process uses. */
export interface TestServers {
  readonly postgres: PostgresServer;
  readonly clickhouse: TelemetryTarget;
}

let servers: Promise<TestServers> | undefined;

export function testServers(): Promise<TestServers> {
  servers ??= find();
  return servers;
}

async function find(): Promise<TestServers> {
  const given = process.env['GATEHOUSE_TEST_SERVERS'];
  if (given) return JSON.parse(given) as TestServers;
  throw new Error('run the tests through `npm test`, which starts the servers they use');
}
