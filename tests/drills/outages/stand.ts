import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { auth, keys, organization } from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';
import { openEmbeddedClickHouse, openEmbeddedPostgres } from '@gatehouse/embedded';
import { findRedisServer, startRedisServer } from '@gatehouse/gateway/testing';
import { createTelemetryClient, type Database, openDatabase, type TelemetryClient } from '@gatehouse/store';
import { type ServiceProcess, startService } from '../../service-process.ts';
import { type FaultProxy, startFaultProxy } from '../fault-proxy.ts';
import { setRateLimit } from '../gateway-fleet.ts';
import { type Disk, openDisk } from './disk.ts';
import { type Network, openNetwork } from './network.ts';
import { type Issuer, type Provider, startCollector, startIssuer, startProvider } from './servers.ts';

// A service whose stores and providers are servers of their own, each behind a proxy.

/** The services that an outage can take away. */
export type Part = 'postgres' | 'clickhouse' | 'redis' | 'provider' | 'google' | 'collector';

export interface Stand extends AsyncDisposable {
  readonly service: ServiceProcess;
  readonly network: Network;
  /** Google's is on this machine, as an issuer over HTTP must be. */
  readonly google: FaultProxy;
  readonly provider: Provider;
  readonly issuer: Issuer;
  /** Undefined without a Redis on this machine. */
  readonly redisSocket: string | undefined;
  /** Undefined where the drill cannot mount. */
  readonly disks: Readonly<Record<'postgres' | 'clickhouse' | 'node', Disk>> | undefined;
  readonly isIsolated: boolean;
  /** The file with the error of the service's clock, in milliseconds. */
  readonly clockFile: string;
  /** Past every proxy. */
  readonly database: Database;
  readonly telemetry: TelemetryClient;
  readonly projectId: string;
  readonly key: { readonly id: string; readonly secret: string };
  readonly credentials: typeof CREDENTIALS;
  client(): ApiClient;
}

export interface StandOptions {
  /** True if this process has namespaces of its own, for network and mounts. */
  readonly isIsolated: boolean;
}

const CREDENTIALS = { email: 'drill@example.com', password: 'correct horse battery staple' };
/** Beyond what the callers ask. */
export const RATE_RPM = 100_000;
/** The time limit of the drill's model, so that an outage of its provider is answered within the drill. */
export const ROUTE_TIMEOUT_MS = 6_000;
const DISK_MIB = { postgres: 384, clickhouse: 384, node: 64 };
/** The space that the node keeps free. */
const MIN_FREE_MIB = 16;

export async function openStand({ isIsolated }: StandOptions): Promise<Stand> {
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-out-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const network = stack.use(await openNetwork(isIsolated));
  const disk = async (name: keyof typeof DISK_MIB) =>
    stack.use(await openDisk(join(directory, name), DISK_MIB[name]));
  const disks = isIsolated
    ? { postgres: await disk('postgres'), clickhouse: await disk('clickhouse'), node: await disk('node') }
    : undefined;
  const placeOf = (name: keyof typeof DISK_MIB) => disks?.[name].directory ?? join(directory, name);

  const postgres = stack.use(await openEmbeddedPostgres({ dataDir: placeOf('postgres') }));
  const clickhouse = stack.use(await openEmbeddedClickHouse({ dataDir: placeOf('clickhouse') }));
  const redisProgram = await findRedisServer();
  const redisSocket = redisProgram === undefined ? undefined : join(directory, 'redis.sock');
  if (redisProgram !== undefined && redisSocket !== undefined)
    stack.use(await startRedisServer(redisProgram, ['--unixsocket', redisSocket]));
  const provider = stack.use(await startProvider(join(directory, 'provider.sock')));
  const collector = stack.use(await startCollector(join(directory, 'collector.sock')));
  let issuerAddress = '';
  const issuer = stack.use(await startIssuer(join(directory, 'issuer.sock'), () => issuerAddress));
  const google = stack.use(await startFaultProxy({ path: issuer.path }));
  issuerAddress = `http://127.0.0.1:${google.port}`;

  const { host: socketDirectory, port, user, database: name } = postgres.connection;
  const at = async (part: Part, path: string) => `${network.host}:${await network.open(part, { path })}`;
  const postgresAt = await at('postgres', join(socketDirectory, `.s.PGSQL.${port}`));
  const catalogue = join(directory, 'catalogue.yaml');
  await writeFile(catalogue, catalogueOf(`http://${await at('provider', provider.path)}/v1`));
  const clockFile = join(directory, 'clock-shift');
  await writeFile(clockFile, '0');
  const service = stack.use(
    await startService({
      DATA_DIR: placeOf('node'),
      CATALOGUE: catalogue,
      DATABASE_URL: `postgres://${user}@${postgresAt}/${name}?sslmode=disable`,
      CLICKHOUSE_URL: `http://${await at('clickhouse', clickhouse.socketPath)}`,
      ...(redisSocket !== undefined && { REDIS_URL: `redis://${await at('redis', redisSocket)}` }),
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://${await at('collector', collector.path)}`,
      GOOGLE_CLIENT_ID: issuer.clientId,
      GOOGLE_ISSUER: issuerAddress,
      GATEHOUSE_MASTER_KEY: randomBytes(32).toString('base64'),
      JOIN_POLICY: 'open',
      RATE_LIMIT_CEILING_RPM: '1000000',
      SIGNUP_CREDIT_PKR: '1000000000',
      DISK_MIN_FREE_MB: String(MIN_FREE_MIB),
      CLOCK_SHIFT_FILE: clockFile,
      NODE_OPTIONS: `--import=${join(import.meta.dirname, 'clock-shift.ts')}`,
    }),
  );
  const database = stack.use(openDatabase(postgres.connection, { poolSize: 2 }));
  const telemetry = createTelemetryClient({ socketPath: clickhouse.socketPath });
  stack.defer(() => telemetry.close());

  const client = () => new ApiClient(service.apiPort);
  const first = client();
  await first.call(auth.register, { body: { ...CREDENTIALS, organization_name: 'Drill' } });
  await first.call(auth.login, { body: CREDENTIALS });
  const { projects } = await first.call(organization.listProjects);
  const projectId = projects[0]?.id ?? '';
  const minted = await first.call(keys.createKey, { body: { project_id: projectId, name: 'drill' } });
  await database.run(setRateLimit, { keyId: minted.id, rateLimitRpm: RATE_RPM });
  const open = stack.move();
  return {
    ...{ service, network, google, provider, issuer, redisSocket, disks, isIsolated, clockFile },
    ...{ database, telemetry, projectId, credentials: CREDENTIALS, client },
    key: { id: minted.id, secret: minted.api_key },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

function catalogueOf(baseUrl: string): string {
  return `providers: { drill: { protocol: openai, base_url: "${baseUrl}" } }
routes:
  - id: drill/model
    provider: drill
    upstream_model: m
    price_pkr_per_million: { input: 70, output: 560 }
    max_output_tokens: 1000
    timeout_ms: ${ROUTE_TIMEOUT_MS}
`;
}
