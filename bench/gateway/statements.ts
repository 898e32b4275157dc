import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openEmbeddedPostgres } from '@gatehouse/embedded';
import { type Database, type NoParameters, openDatabase, sql, statement } from '@gatehouse/store';
import { cpuOf, difference } from './cpu.ts';
import { startGatehouse } from './gatehouse.ts';
import { loadWithWrk, writeRequest } from './load.ts';
import { startJsonProvider } from './nginx.ts';
import { inColumns, inMarkdown } from './report-tables.ts';
import { assertTools } from './tools.ts';

// What a request costs PostgreSQL, by statement: how often each runs per request, and its share of the time, from
// pg_stat_statements. The extension costs some time itself; main.ts measures without it.
//
//   node bench/gateway/statements.ts [--seconds 5] [--connections 64] [--processes 1] [--markdown]

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '64' },
    processes: { type: 'string', default: '1' },
    markdown: { type: 'boolean', default: false },
  },
});
const [seconds, connections] = [Number(values.seconds), Number(values.connections)];
const WARM_UP_SECONDS = 5;
const ROWS = 20;
const QUERY_LENGTH = 100;

interface StatementRow {
  readonly query: string;
  readonly calls: number;
  readonly ms: number;
  readonly rows: number;
  readonly walBytes: number;
}

const createExtension = statement<NoParameters>(
  'bench-statements-extension',
  sql`CREATE EXTENSION IF NOT EXISTS pg_stat_statements`,
);
const reset = statement<NoParameters>('bench-statements-reset', sql`SELECT pg_stat_statements_reset()`);
const list = statement<NoParameters, StatementRow>(
  'bench-statements-list',
  sql`
    SELECT query, calls::float8 AS calls, total_exec_time AS ms, rows::float8 AS rows, wal_bytes::float8 AS wal_bytes
    FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat_statements%' ORDER BY total_exec_time DESC`,
);

async function preload(dataDir: string): Promise<void> {
  await using postgres = await openEmbeddedPostgres({ dataDir });
  await appendFile(
    join(postgres.dataDirectory, 'postgresql.auto.conf'),
    "shared_preload_libraries = 'pg_stat_statements'\n",
  );
}

const oneLine = (query: string) =>
  query.replaceAll(/\s+/g, ' ').replaceAll('|', '/').trim().slice(0, QUERY_LENGTH);

function report(all: readonly StatementRow[], requests: number, cpuUs: number): void {
  const total = all.reduce((sum, { ms }) => sum + ms, 0);
  const calls = all.reduce((sum, one) => sum + one.calls, 0);
  const table = [
    ['statement', 'per request', 'µs each', 'µs per request', 'share', 'rows each', 'WAL bytes per request'],
    ...all
      .slice(0, ROWS)
      .map((one) => [
        oneLine(one.query),
        (one.calls / requests).toFixed(3),
        ((one.ms * 1000) / one.calls).toFixed(0),
        ((one.ms * 1000) / requests).toFixed(1),
        `${((100 * one.ms) / total).toFixed(0)} %`,
        (one.rows / one.calls).toFixed(1),
        (one.walBytes / requests).toFixed(0),
      ]),
  ];
  process.stdout.write(
    `${requests} requests, ${connections} connections: ${(calls / requests).toFixed(2)} statements per request, ${cpuUs.toFixed(0)} µs of CPU in all of PostgreSQL, ${((total * 1000) / requests).toFixed(0)} µs within statements.\n\n`,
  );
  process.stdout.write(values.markdown ? inMarkdown(table) : inColumns(table));
}

async function main(): Promise<void> {
  await assertTools();
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-bench-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const provider = stack.use(await startJsonProvider(directory));
  const port = provider.ports[0] ?? 0;
  const processes = Number(values.processes);
  const service = stack.use(await startGatehouse(directory, { json: port, sse: port }, processes, preload));
  const requestFile = await writeRequest(directory, service.subject, 'json');
  const load = (forSeconds: number) =>
    loadWithWrk(service.subject.ports.json, connections, forSeconds, requestFile);
  await load(WARM_UP_SECONDS);
  await using postgres = await openEmbeddedPostgres({ dataDir: service.dataDir });
  await using database: Database = openDatabase(postgres.connection, { poolSize: 1 });
  await database.run(createExtension);
  await database.run(reset);
  const before = await cpuOf(service.pid);
  const { answers } = await load(seconds);
  const cpu = difference(before, await cpuOf(service.pid));
  const rows = await database.many(list);
  report(rows, answers, (cpu.get('PostgreSQL') ?? Number.NaN) / answers);
}

await main();
