import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { type AddressInfo, connect, createServer, type NetConnectOpts } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { auth, keys, organization } from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';
import { openEmbeddedClickHouse, openEmbeddedPostgres } from '@gatehouse/embedded';
import { findRedisServer, startRedisServer } from '@gatehouse/gateway/testing';
import { type Database, type NoParameters, openDatabase, sql, statement } from '@gatehouse/store';
import { inColumns, inMarkdown } from './gateway/report-tables.ts';
import { startProgram } from './gateway/started-program.ts';

// What a request costs the network, the write-ahead log and Redis: the service reaches its stores through relays that count
// bytes. Counts do not depend on how busy the machine is, but for how many requests share a statement.
//
//   node bench/request-costs.ts [--requests 5000] [--markdown]

const { values } = parseArgs({
  options: { requests: { type: 'string', default: '5000' }, markdown: { type: 'boolean', default: false } },
});
const requests = Number(values.requests);
const CONNECTIONS = [1, 64];
const WARM_UP = 500;
const SHIPPED_LIMIT_MS = 60_000;
const HIGH_RATE_RPM = 1_000_000;
const root = join(import.meta.dirname, '..');

const findServer = statement<NoParameters, { walBytes: number; settled: number; held: number }>(
  'costs-find-server',
  sql`SELECT (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8 AS wal_bytes,
             (SELECT count(*) FROM settlements)::float8 AS settled, (SELECT count(*) FROM holds)::float8 AS held`,
);

const findKept = statement<
  NoParameters,
  { settlements: number; settlementBytes: number; positions: number; positionBytes: number }
>(
  'costs-find-kept',
  sql`SELECT (SELECT count(*) FROM settlements)::float8 AS settlements,
             (SELECT sum(pg_total_relation_size(inhrelid)) FROM pg_inherits WHERE inhparent = 'settlements'::regclass
                AND pg_relation_size(inhrelid) > 0)::float8 AS settlement_bytes,
             (SELECT count(*) FROM journal_positions)::float8 AS positions,
             pg_total_relation_size('journal_positions')::float8 AS position_bytes`,
);

interface Relay {
  readonly port: number;
  /** Both directions. */
  bytes(): number;
}

async function startRelay(stack: AsyncDisposableStack, to: NetConnectOpts): Promise<Relay> {
  let bytes = 0;
  const server = createServer((near) => {
    const far = connect(to);
    for (const [from, into] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        into.write(chunk);
      });
      from.on('close', () => into.destroy());
      from.on('error', () => into.destroy());
      from.setNoDelay?.(true);
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  stack.defer(() => void server.close());
  return { port: (server.address() as AddressInfo).port, bytes: () => bytes };
}

/** Sends so many requests over so many connections. */
async function load(port: number, secret: string, count: number, connections: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const body = JSON.stringify({
    model: 'bench/model',
    messages: [{ role: 'user', content: 'Hello, how are you today?' }],
    max_completion_tokens: 50,
  });
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  let left = count;
  const ask = async () => {
    const outgoing = request({
      host: '127.0.0.1',
      port,
      path: '/v1/chat/completions',
      method: 'POST',
      agent,
      headers,
    });
    outgoing.end(body);
    const [answer] = await once(outgoing, 'response');
    if (answer.statusCode !== 200) throw new Error(`the gateway answered ${answer.statusCode}`);
    answer.resume();
    await once(answer, 'end');
  };
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (left > 0) {
        left -= 1;
        await ask();
      }
    }),
  );
  agent.destroy();
}

async function settled(database: Database, count: number): Promise<void> {
  const end = performance.now() + SHIPPED_LIMIT_MS;
  for (;;) {
    const now = await database.one(findServer);
    if (now && now.settled >= count && now.held === 0) return;
    if (performance.now() > end) throw new Error(`${now?.settled} of ${count} requests were settled in time`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function startService(directory: string, environment: Readonly<Record<string, string>>) {
  const readyLine = (output: string) => output.split('\n').find((line) => line.includes('"msg":"ready"'));
  const started = await startProgram({
    command: process.execPath,
    args: ['cli/bin/gatehouse.mjs', 'start'],
    cwd: root,
    outputFile: join(directory, 'service.log'),
    environment: { PORT: '0', GATEWAY_PORT: '0', DATA_DIR: join(directory, 'service'), ...environment },
    isReady: (output) => readyLine(output) !== undefined,
  });
  const ready = JSON.parse(readyLine(await readFile(started.outputFile, 'utf8')) ?? '{}');
  return { started, apiPort: Number(ready.api_port), gatewayPort: Number(ready.gateway_port) };
}

async function mint(apiPort: number): Promise<string> {
  const api = new ApiClient(apiPort);
  const account = { email: 'bench@example.com', password: 'correct horse battery staple' };
  await api.call(auth.register, { body: { ...account, organization_name: 'Bench' } });
  await api.call(auth.login, { body: account });
  const { projects } = await api.call(organization.listProjects);
  const minted = await api.call(keys.createKey, { body: { project_id: projects[0]?.id, name: 'bench' } });
  await api.call(keys.updateKey, { params: { key_id: minted.id }, body: { rate_limit_rpm: HIGH_RATE_RPM } });
  return minted.api_key;
}

async function main(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-costs-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const dataDir = join(directory, 'stores');
  const postgres = stack.use(await openEmbeddedPostgres({ dataDir }));
  const engine = stack.use(await openEmbeddedClickHouse({ dataDir }));
  const { connection } = postgres;
  const relays = {
    PostgreSQL: await startRelay(stack, { path: join(connection.host, `.s.PGSQL.${connection.port}`) }),
    ClickHouse: await startRelay(stack, { path: engine.socketPath }),
  };
  const program = await findRedisServer();
  const redis = program === undefined ? undefined : stack.use(await startRedisServer(program));
  const redisRelay = redis && (await startRelay(stack, { port: redis.port, host: '127.0.0.1' }));
  const provider = stack.use(
    await startProgram({
      command: process.execPath,
      args: ['bench/gateway/instant-provider.ts'],
      cwd: root,
      outputFile: join(directory, 'provider.log'),
      isReady: (output) => output.includes('\n'),
    }),
  );
  const providerPort = (await readFile(provider.outputFile, 'utf8')).trim();
  const catalogue = join(directory, 'catalogue.yaml');
  await writeFile(
    catalogue,
    `providers: { p: { protocol: openai, base_url: "http://127.0.0.1:${providerPort}/v1" } }
routes:
  - { id: bench/model, provider: p, upstream_model: m, price_pkr_per_million: { input: 70, output: 560 }, max_output_tokens: 100 }
`,
  );
  const service = await startService(directory, {
    CATALOGUE: catalogue,
    DATABASE_URL: `postgres://${connection.user}@127.0.0.1:${relays.PostgreSQL.port}/${connection.database}?sslmode=disable`,
    CLICKHOUSE_URL: `http://127.0.0.1:${relays.ClickHouse.port}`,
    ...(redisRelay && { REDIS_URL: `redis://127.0.0.1:${redisRelay.port}` }),
    GATEHOUSE_MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
    JOIN_POLICY: 'closed',
    SIGNUP_CREDIT_PKR: '1000000',
    RATE_LIMIT_CEILING_RPM: String(HIGH_RATE_RPM),
  });
  stack.use(service.started);
  const database = stack.use(openDatabase(connection, { poolSize: 1 }));
  const secret = await mint(service.apiPort);
  await load(service.gatewayPort, secret, WARM_UP, 8);
  let done = WARM_UP;
  await settled(database, done);

  const readings = async () => ({
    postgres: relays.PostgreSQL.bytes(),
    clickhouse: relays.ClickHouse.bytes(),
    redis: redisRelay?.bytes() ?? Number.NaN,
    wal: (await database.one(findServer))?.walBytes ?? Number.NaN,
    redisUs: redis ? await redisCpuUs(redis.port) : Number.NaN,
  });
  const rows: string[][] = [
    [
      'connections',
      'PostgreSQL, bytes',
      'WAL, bytes',
      'ClickHouse, bytes',
      'Redis, bytes',
      'Redis, µs of CPU',
    ],
  ];
  for (const connections of CONNECTIONS) {
    const count = connections === 1 ? Math.ceil(requests / 5) : requests;
    const before = await readings();
    await load(service.gatewayPort, secret, count, connections);
    done += count;
    await settled(database, done);
    // The telemetry shipper has the same interval as the ledger's.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const after = await readings();
    const each = (member: keyof typeof before, digits = 0) =>
      ((after[member] - before[member]) / count).toFixed(digits);
    rows.push([
      String(connections),
      each('postgres'),
      each('wal'),
      each('clickhouse'),
      each('redis'),
      each('redisUs', 1),
    ]);
  }
  const kept = await database.one(findKept);
  if (kept === undefined) throw new Error('the stores keep nothing');
  const figures = [
    ['kept', 'rows', 'bytes a row', 'bytes a request'],
    [
      'settlements, for hours',
      String(kept.settlements),
      (kept.settlementBytes / kept.settlements).toFixed(0),
      (kept.settlementBytes / kept.settlements).toFixed(0),
    ],
    [
      'journal_positions, for 100 days',
      String(kept.positions),
      (kept.positionBytes / kept.positions).toFixed(0),
      (kept.positionBytes / done).toFixed(1),
    ],
  ];
  for (const table of [rows, figures])
    process.stdout.write(`${(values.markdown ? inMarkdown : inColumns)(table)}\n`);
}

/** The processor time that Redis says it has used so far. */
async function redisCpuUs(port: number): Promise<number> {
  const socket = connect(port, '127.0.0.1');
  socket.write('INFO cpu\r\n');
  const [text] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  const seconds = (name: string) => Number(new RegExp(`${name}:([\\d.]+)`).exec(text.toString())?.[1]);
  return (seconds('used_cpu_sys') + seconds('used_cpu_user')) * 1e6;
}

await main();
