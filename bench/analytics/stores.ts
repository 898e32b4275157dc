import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedClickHouse, openEmbeddedPostgres } from '@gatehouse/embedded';
import {
  createTelemetryClient,
  type Database,
  migratePostgres,
  openDatabase,
  type TelemetryClient,
} from '@gatehouse/store';
import type { ControlAddress } from './api-process.ts';

/** Long enough to fill a store. A measured query has the API's own limit. */
export const TIMEOUT_MS = 3_600_000;

/** The two stores of the service, embedded, in a directory of the benchmark. */
export interface BenchStores extends AsyncDisposable {
  readonly directory: string;
  readonly telemetry: { readonly socketPath: string };
  readonly enginePid: () => number | null;
  readonly control: ControlAddress;
  /** With every right in the control plane's database. */
  readonly owner: Database;
  /** A client of the telemetry store, in the named database or in none; for the caller to close. */
  connect(database: string | null): TelemetryClient;
}

/** Opens the stores. Without a directory they are temporary and are removed when closed. */
export async function openBenchStores(given: string | undefined): Promise<BenchStores> {
  await using stack = new AsyncDisposableStack();
  const directory = given ?? (await mkdtemp(join(tmpdir(), 'gatehouse-bench-')));
  if (given === undefined) stack.defer(() => rm(directory, { recursive: true, force: true }));
  else await mkdir(directory, { recursive: true });
  const engine = stack.use(await openEmbeddedClickHouse({ dataDir: join(directory, 'service') }));
  const postgres = stack.use(await openEmbeddedPostgres({ dataDir: join(directory, 'service') }));
  const owner = stack.use(openDatabase(postgres.connection, { poolSize: 2 }));
  await migratePostgres(owner, { serviceMayLogIn: true });
  const telemetry = { socketPath: engine.socketPath };
  const kept = stack.move();
  return {
    directory,
    telemetry,
    enginePid: () => engine.enginePid(),
    control: postgres.connection,
    owner,
    connect: (database) => createTelemetryClient(telemetry, { database, requestTimeoutMs: TIMEOUT_MS }),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

export const clickhouseTimeouts = { max_execution_time: TIMEOUT_MS / 1000 };

/** Runs a query in the telemetry store and returns the rows, with numbers as numbers. */
export async function rowsOf<Row>(client: TelemetryClient, query: string): Promise<Row[]> {
  const answer = await client.query({
    query,
    format: 'JSONEachRow',
    clickhouse_settings: { ...clickhouseTimeouts, output_format_json_quote_64bit_integers: 0 },
  });
  return answer.json<Row>();
}
