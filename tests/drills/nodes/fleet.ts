import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedClickHouse } from '@gatehouse/embedded';
import { findRedisServer, startRedisServer } from '@gatehouse/gateway/testing';
import { createTelemetryClient, type Database, openDatabase, type TelemetryClient } from '@gatehouse/store';
import { startFaultProxy } from '../fault-proxy.ts';
import {
  API_NAME,
  API_PORT,
  type Balancer,
  type BalancerProgram,
  GATEWAY_NAME,
  GATEWAY_PORT,
  startBalancer,
  whyNotBalanced,
} from './balancer.ts';
import { type Network, openNetwork } from './network.ts';
import { nginx } from './nginx.ts';
import { createNode, type FleetNode } from './node.ts';
import { startPostgres } from './postgres-server.ts';
import { type BillingProvider, startBillingProvider } from './provider.ts';

// Two APIs and two gateways behind a balancer, with PostgreSQL, Redis and a ClickHouse engine, each a process of its own, as
// docs/deployment.md describes several nodes.

export const NODES = ['api-1', 'api-2', 'gateway-1', 'gateway-2'] as const;
export type NodeName = (typeof NODES)[number];

const CLICKHOUSE_PORT = 8_123;
/** The balance of each organisation. */
export const BALANCE_PKR = 1_000;
/** Short, because holds of requests that were in flight in a killed gateway last a minute longer. */
const ROUTE_TIMEOUT_MS = 10_000;

export interface NodesFleet extends AsyncDisposable {
  /** Its nodes and stores, for the first line of a drill. */
  readonly description: string;
  readonly network: Network;
  readonly balancer: Balancer;
  readonly provider: BillingProvider;
  /** With every right, on connections of its own. */
  readonly database: Database;
  readonly telemetry: TelemetryClient;
  readonly hasRedis: boolean;
  node(name: NodeName): FleetNode;
  /** The log lines of all nodes so far. */
  logLines(): Record<string, unknown>[];
}

/** Why a fleet cannot be started here; undefined where it can. */
export function withoutFleet({ balancer = nginx }: FleetOptions): string | undefined {
  return whyNotBalanced(balancer);
}

export interface FleetOptions {
  /** Added to that of each node. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The folder of the version that the nodes run first. */
  readonly directory?: string | undefined;
  /** nginx unless given. */
  readonly balancer?: BalancerProgram;
}

/** Starts all of it. */
export async function startNodes({
  environment = {},
  directory: version,
  balancer: program = nginx,
}: FleetOptions): Promise<NodesFleet> {
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-nodes-'));
  // PostgreSQL and nginx run as users of their own.
  await chmod(directory, 0o755);
  stack.defer(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }));
  const network = stack.use(await openNetwork(NODES));
  const at = network.addressOf;

  const postgres = stack.use(await startPostgres(directory, at('postgres')));
  const engine = stack.use(await openEmbeddedClickHouse({ dataDir: join(directory, 'clickhouse') }));
  stack.use(
    await startFaultProxy({ path: engine.socketPath }, { host: at('clickhouse'), port: CLICKHOUSE_PORT }),
  );
  const redisProgram = await findRedisServer();
  const redis =
    redisProgram === undefined
      ? undefined
      : stack.use(
          await startRedisServer(redisProgram, [
            '--bind',
            '127.0.0.1',
            at('redis'),
            '--protected-mode',
            'no',
          ]),
        );
  const provider = stack.use(await startBillingProvider(at('provider')));
  const catalogue = join(directory, 'catalogue.yaml');
  await writeFile(
    catalogue,
    `providers: { mock: { protocol: openai, base_url: "${provider.baseUrl}" } }
routes:
  - { id: mock/model, provider: mock, upstream_model: m, price_pkr_per_million: { input: 70, output: 560 }, max_output_tokens: 1000, timeout_ms: ${ROUTE_TIMEOUT_MS} }
  - { id: mock/dear, provider: mock, upstream_model: m, price_pkr_per_million: { input: 70, output: 2000000 }, max_output_tokens: 1000, timeout_ms: ${ROUTE_TIMEOUT_MS} }
`,
  );

  const shared = {
    DATABASE_URL: postgres.url,
    CLICKHOUSE_URL: `http://${at('clickhouse')}:${CLICKHOUSE_PORT}`,
    ...(redis && { REDIS_URL: `redis://${at('redis')}:${redis.port}`, GATEWAY_NODES: '2' }),
    GATEHOUSE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    CATALOGUE: catalogue,
    DASHBOARD: 'off',
    // Its default, which tests do without.
    DRAIN_DELAY: '5',
    JOIN_POLICY: 'open',
    SIGNUP_CREDIT_PKR: `${BALANCE_PKR}`,
    REGISTRATIONS_PER_NETWORK: '1000000',
    REGISTRATIONS_PER_HOUR: '1000000',
    RATE_LIMIT_CEILING_RPM: '1000000',
    ALLOWED_HOSTS: `${API_NAME},${GATEWAY_NAME}`,
    TRUSTED_PROXIES: network.outside,
    TRUSTED_PROXY_HOPS: '1',
    PORT: `${API_PORT}`,
    GATEWAY_PORT: `${GATEWAY_PORT}`,
    ...environment,
  };
  const nodes = new Map<string, FleetNode>();
  for (const name of NODES) {
    const role = name.startsWith('api') ? 'api' : 'gateway';
    const dataDir = join(directory, name);
    await mkdir(dataDir, { mode: 0o700 });
    const own = { ...shared, HOST: at(name), DATA_DIR: dataDir };
    const address = `${at(name)}:${role === 'api' ? API_PORT : GATEWAY_PORT}`;
    nodes.set(name, stack.use(createNode(name, address, role, own, { within: network.on(name) })));
  }
  const node = (name: NodeName) => nodes.get(name) as FleetNode;
  // All at once: the order does not matter.
  await Promise.all(
    NODES.map((name) => node(name).start(version === undefined ? {} : { directory: version })),
  );
  const addressesOf = (role: string) =>
    NODES.filter((name) => name.startsWith(role)).map((name) => node(name).address);
  const balancerFolder = join(directory, 'balancer');
  await mkdir(balancerFolder);
  const balancer = stack.use(
    await startBalancer(program, {
      folder: balancerFolder,
      address: at('balancer'),
      nodes: { apis: addressesOf('api'), gateways: addressesOf('gateway') },
    }),
  );
  const database = stack.use(openDatabase({ url: postgres.url }, { poolSize: 4 }));
  const telemetry = createTelemetryClient({ socketPath: engine.socketPath });
  stack.defer(() => telemetry.close());

  const open = stack.move();
  return {
    description: [
      `two APIs, two gateways, ${program.name}`,
      postgres.name,
      redisProgram ?? 'no Redis',
      `${network.withoutPartitions === undefined ? 'in network namespaces' : `no partitions (${network.withoutPartitions})`}`,
    ].join(', '),
    network,
    balancer,
    provider,
    database,
    telemetry,
    hasRedis: redis !== undefined,
    node,
    logLines: () => NODES.flatMap((name) => node(name).logLines()),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}
