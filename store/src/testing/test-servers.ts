import type { TelemetryTarget } from '../clickhouse/index.ts';
import type { PostgresServer } from './test-database.ts';

/** The servers that a test process uses. */
export interface TestServers {
  readonly postgres: PostgresServer;
  readonly clickhouse: TelemetryTarget;
  /** For files that the files of one run share. It is removed after the run. */
  readonly directory: string;
}

let servers: Promise<TestServers> | undefined;

export function testServers(): Promise<TestServers> {
  servers ??= find();
  return servers;
}

/** Undefined outside a test run. */
export function testRun(): TestServers | undefined {
  const servers = process.env['GATEHOUSE_TEST_SERVERS'];
  return servers ? (JSON.parse(servers) as TestServers) : undefined;
}

async function find(): Promise<TestServers> {
  const servers = testRun();
  if (servers) return servers;
  throw new Error('run the tests with `npm test`, which starts their database servers');
}
