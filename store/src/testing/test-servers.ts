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
  const servers = process.env['GATEHOUSE_TEST_SERVERS'];
  if (servers) return JSON.parse(servers) as TestServers;
  throw new Error('run the tests with `npm test`, which starts their database servers');
}
