import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type EmbeddedClickHouse,
  type EmbeddedPostgres,
  openEmbeddedClickHouse,
  openEmbeddedPostgres,
} from '@gatehouse/embedded';
import { type PostgresProxy, startPostgresProxy } from '@gatehouse/gateway/testing';
import { createTelemetryClient, type Database, openDatabase, type TelemetryClient } from '@gatehouse/store';
import { shareCompiledCode } from '../../compile-cache.ts';
import { type FaultProxy, startFaultProxy } from '../fault-proxy.ts';
import { type BillingProvider, CATALOGUE, startBillingProvider } from './bill.ts';
import { Node, type Role } from './node.ts';

/** PostgreSQL and the engine, which this process starts and restarts, a provider, and what nodes need to use them over TCP. */
export interface Stand extends AsyncDisposable {
  readonly directory: string;
  readonly postgres: EmbeddedPostgres;
  readonly postgresProxy: PostgresProxy;
  readonly engine: EmbeddedClickHouse;
  readonly engineProxy: FaultProxy;
  readonly provider: BillingProvider;
  /** With every right. */
  readonly database: Database;
  readonly telemetry: TelemetryClient;
  /** Settings that name the stores; for operator commands too. */
  readonly environment: Readonly<Record<string, string>>;
  /** Starts a node. Nodes of one machine share a directory, and so each other's journals. */
  startNode(role: Role, machine: string, more?: Readonly<Record<string, string>>): Promise<Node>;
}

export async function openStand(random: () => number, slowestAnswerMs: number): Promise<Stand> {
  await using stack = new AsyncDisposableStack();
  stack.use(await shareCompiledCode());
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-kills-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const stores = join(directory, 'stores');
  const postgres = stack.use(await openEmbeddedPostgres({ dataDir: stores }));
  const engine = stack.use(await openEmbeddedClickHouse({ dataDir: stores }));
  const postgresProxy = stack.use(await startPostgresProxy(postgres.connection));
  const engineProxy = stack.use(await startFaultProxy({ path: engine.socketPath }));
  const provider = stack.use(await startBillingProvider(random, slowestAnswerMs));
  const catalogue = join(directory, 'catalogue.yaml');
  await writeFile(catalogue, CATALOGUE(provider.baseUrl));
  const { address } = postgresProxy;
  if (!('host' in address)) throw new Error('expected the parts of an address');
  const environment = {
    DATABASE_URL: `postgres://${address.user}@127.0.0.1:${address.port}/${address.database}?sslmode=disable`,
    CLICKHOUSE_URL: `http://127.0.0.1:${engineProxy.port}`,
    GATEHOUSE_MASTER_KEY: randomBytes(32).toString('base64'),
    CATALOGUE: catalogue,
    MOCK_KEY: 'none',
    RATE_LIMIT_CEILING_RPM: '1000000',
    JOIN_POLICY: 'open',
    SIGNUP_CREDIT_PKR: '1000000',
  };
  const database = stack.use(openDatabase(postgres.connection, { poolSize: 2 }));
  const telemetry = stack.adopt(createTelemetryClient(engine, { requestTimeoutMs: 120_000 }), (it) =>
    it.close(),
  );
  const nodes = new AsyncDisposableStack();
  stack.use(nodes);
  const open = stack.move();
  return {
    directory,
    postgres,
    postgresProxy,
    engine,
    engineProxy,
    provider,
    database,
    telemetry,
    environment,
    async startNode(role, machine, more = {}) {
      const own = { ...environment, DATA_DIR: join(directory, machine), ...more };
      return nodes.use(await Node.start(role, own));
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}
