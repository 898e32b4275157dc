import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedClickHouse, openEmbeddedPostgres } from '@gatehouse/embedded';

/** Starts a PostgreSQL and a telemetry engine for this run. Test files, which are processes, find them through the environment. */
export async function startTestServers(): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-tests-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const postgres = stack.use(await openEmbeddedPostgres({ dataDir: directory }));
  const clickhouse = stack.use(await openEmbeddedClickHouse({ dataDir: directory }));
  process.env['GATEHOUSE_TEST_SERVERS'] = JSON.stringify({
    postgres: postgres.connection,
    clickhouse: { socketPath: clickhouse.socketPath },
    directory,
  });
  return stack.move();
}
