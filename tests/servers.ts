import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedClickHouse, openEmbeddedPostgres } from '@gatehouse/embedded';
import type { TestServers } from '@gatehouse/store/testing';

/**
 * Starts a PostgreSQL and a telemetry engine for this run. Test files, which are processes, find them through the environment.
 * TEST_POSTGRES names another PostgreSQL instead, by the JSON of its host, port, user and database.
 */
export async function startTestServers(): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-tests-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const other = process.env['TEST_POSTGRES'];
  const connection = other
    ? (JSON.parse(other) as TestServers['postgres'])
    : stack.use(await openEmbeddedPostgres({ dataDir: directory })).connection;
  const clickhouse = stack.use(await openEmbeddedClickHouse({ dataDir: directory }));
  process.env['GATEHOUSE_TEST_SERVERS'] = JSON.stringify({
    postgres: connection,
    clickhouse: { socketPath: clickhouse.socketPath },
    directory,
  });
  return stack.move();
}
