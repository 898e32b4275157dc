import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { auth, keys, organization } from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';
import { openEmbeddedPostgres } from '@gatehouse/embedded';
import { claudeCodeBody } from '@gatehouse/gateway/testing';
import { type NoParameters, openDatabase, sql, statement } from '@gatehouse/store';
import type { ServiceProcess } from '@gatehouse/tests/service-process';
import { measureBursts } from './bursts.ts';
import { cpuOf, difference } from './cpu.ts';

// What a request costs the main thread of the gateway process, its other threads and the stores: their processor time while
// wrk keeps some connections busy, by /proc, so that what else runs on the machine counts for little. Several checkouts are
// measured alternately in one run. Linux only; needs wrk.
//
//   node bench/gateway/main-thread.ts [--body json|stream|agent] [--seconds 3] [--rounds 6] [--connections 64]
//     [--bursts N] [--profile FILE] [--during 'COMMAND with {pid}'] [--node-options OPTIONS] [CHECKOUT...]
//
// With --bursts, which is for a machine where other programs run, wrk is not used: each round sends N bursts (bursts.ts).
//
// A profile is of the first checkout, and so is what the command looks at: `perf record -e cpu-clock -g -t {pid}` with
// the option --perf-basic-prof, `strace -c -p {pid}`.

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    body: { type: 'string', default: 'json' },
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '6' },
    connections: { type: 'string', default: '64' },
    bursts: { type: 'string' },
    profile: { type: 'string' },
    during: { type: 'string' },
    'node-options': { type: 'string', default: '' },
  },
});
const root = join(import.meta.dirname, '../..');
const checkouts = positionals.length === 0 ? [root] : positionals.map((path) => resolve(path));
const PARTS = ['main thread', 'other threads', 'PostgreSQL', 'all'] as const;
const WARM_UP_SECONDS = 8;
const PROFILE_WRITTEN_MS = 3_000;

const short = { model: 'mock/model', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] };
const BODIES: Readonly<Record<string, { readonly path: string; readonly body: () => string }>> = {
  json: { path: '/v1/chat/completions', body: () => JSON.stringify(short) },
  stream: { path: '/v1/chat/completions', body: () => JSON.stringify({ ...short, stream: true }) },
  agent: { path: '/v1/messages', body: () => claudeCodeBody({ model: 'native/model', stream: false }) },
};

interface Running {
  readonly checkout: string;
  readonly service: ServiceProcess;
  readonly script: string;
  readonly key: string;
  /** The gateway's process id. */
  readonly pid: number;
}

interface Figures {
  readonly requests: number;
  readonly perSecond: number;
  /** For each of PARTS, of a request. */
  readonly micros: readonly number[];
}

async function startProvider(stack: AsyncDisposableStack): Promise<string> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'instant-provider.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  stack.defer(() => void child.kill());
  const [port] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return `http://127.0.0.1:${port}/v1`;
}

async function start(checkout: string, provider: string, stack: AsyncDisposableStack): Promise<Running> {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-bench-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const catalogue = join(directory, 'catalogue.yaml');
  await writeFile(
    catalogue,
    `providers:
  mock: { protocol: openai, base_url: "${provider}" }
  native: { protocol: anthropic, base_url: "${provider}" }
routes:${routeOf('mock')}${routeOf('native')}
`,
  );
  const { startService } = await import(join(checkout, 'tests/service-process.ts'));
  const dataDir = join(directory, 'data');
  const service: ServiceProcess = stack.use(
    await startService({
      DATA_DIR: dataDir,
      CATALOGUE: catalogue,
      SIGNUP_CREDIT_PKR: '1000000',
      RATE_LIMIT_CEILING_RPM: '1000000',
      NODE_OPTIONS: `--require=${join(import.meta.dirname, 'profile-hook.cjs')} ${options['node-options']}`,
      PROFILE_FILE: resolve(options.profile ?? 'gateway.cpuprofile'),
    }),
  );
  const api = new ApiClient(service.apiPort);
  const credentials = { email: 'bench@example.com', password: 'correct horse battery staple' };
  await api.call(auth.register, { body: { ...credentials, organization_name: 'Bench' } });
  await api.call(auth.login, { body: credentials });
  const project = (await api.call(organization.listProjects)).projects[0];
  const { api_key } = await api.call(keys.createKey, { body: { project_id: project?.id, name: 'bench' } });
  // Rate limits are not measured here.
  const postgres = stack.use(await openEmbeddedPostgres({ dataDir }));
  const database = stack.use(openDatabase(postgres.connection, { poolSize: 1 }));
  await database.run(
    statement<NoParameters>('bench-lift-rate', sql`UPDATE api_keys SET rate_limit_rpm = 1000000`),
  );
  const script = join(directory, 'wrk.lua');
  await writeFile(script, wrkScript(api_key));
  return { checkout, service, script, key: api_key, pid: await gatewayOf(service.child.pid as number) };
}

function routeOf(provider: string): string {
  return `
  - id: ${provider}/model
    provider: ${provider}
    upstream_model: model
    price_pkr_per_million: { input: 1, output: 1 }
    max_output_tokens: 100000
    max_input_tokens: 1000000`;
}

function wrkScript(key: string): string {
  const { body } = BODIES[options.body] ?? fail(`no body is called ${options.body}`);
  return `wrk.method = "POST"
wrk.headers["content-type"] = "application/json"
wrk.headers["authorization"] = "Bearer ${key}"
wrk.body = [==[${body()}]==]
done = function(summary)
  io.write(string.format("RESULT %d %d %d\\n", summary.requests, summary.duration, summary.errors.status))
end
`;
}

/** The gateway process among the service's children; itself where it has none. */
async function gatewayOf(parent: number): Promise<number> {
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const commandLine = await readFile(`/proc/${entry}/cmdline`, 'utf8').catch(() => '');
    const stat = await readFile(`/proc/${entry}/stat`, 'utf8').catch(() => '');
    if (commandLine.includes('gateway-main') && / \S (\d+)/.exec(stat)?.[1] === String(parent)) {
      return Number(entry);
    }
  }
  return parent;
}

async function load({ service, script }: Running, seconds: number) {
  const { path } = BODIES[options.body] ?? fail();
  const url = `http://127.0.0.1:${service.gatewayPort}${path}`;
  const args = ['-t', '1', '-c', options.connections, '-d', `${seconds}s`, '-s', script, url];
  const wrk = spawn('wrk', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let told = '';
  for await (const bytes of wrk.stdout) told += bytes;
  const [, requests, micros, errors] = (/RESULT (\d+) (\d+) (\d+)/.exec(told) ?? fail(told)).map(Number);
  if (errors !== 0) fail(`${errors} of ${requests} requests failed`);
  return { requests: requests as number, perSecond: (requests as number) / ((micros as number) / 1e6) };
}

async function measure(running: Running, seconds: number): Promise<Figures> {
  const service = running.service.child.pid as number;
  const before = await cpuOf(service);
  const { requests, perSecond } = await load(running, seconds);
  const used = difference(before, await cpuOf(service));
  return { requests, perSecond, micros: PARTS.map((part) => (used.get(part) ?? 0) / requests) };
}

function fail(message = 'unreachable'): never {
  throw new Error(message);
}

const row = (...cells: (string | number)[]) => process.stdout.write(`| ${cells.join(' | ')} |\n`);

async function compareBursts(bursts: number): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const provider = await startProvider(stack);
  const { path, body } = BODIES[options.body] ?? fail(`no body is called ${options.body}`);
  const connections = Number(options.connections);
  const all: { readonly running: Running; readonly micros: number[] }[] = [];
  for (const checkout of checkouts) {
    const running = await start(checkout, provider, stack);
    await measure(running, WARM_UP_SECONDS);
    all.push({ running, micros: [] });
  }
  for (let round = 0; round < Number(options.rounds); round += 1) {
    for (const { running, micros } of all) {
      const { service, key, pid } = running;
      const text = body();
      const head = `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${key}`;
      const ofBody = `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}`;
      const request = `${head}\r\n${ofBody}\r\n\r\n${text}`;
      micros.push(await measureBursts({ port: service.gatewayPort, request, connections, bursts, pid }));
    }
  }
  row('checkout', 'main thread, µs a request', 'rounds');
  row('---', '---', '---');
  for (const { running, micros } of all) {
    const rounds = micros.map((one) => one.toFixed(0)).join(' ');
    row(running.checkout, Math.min(...micros).toFixed(1), rounds);
  }
}

async function main(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const provider = await startProvider(stack);
  const all: { readonly running: Running; readonly figures: Figures[] }[] = [];
  for (const checkout of checkouts) {
    const running = await start(checkout, provider, stack);
    await measure(running, WARM_UP_SECONDS);
    all.push({ running, figures: [] });
  }
  for (let round = 0; round < Number(options.rounds); round += 1) {
    for (const { running, figures } of all) figures.push(await measure(running, Number(options.seconds)));
  }
  // What else runs on the machine only ever adds.
  row('checkout', 'requests/s', ...PARTS.map((part) => `${part}, µs`), 'rounds');
  row('---', '---', ...PARTS.map(() => '---'), '---');
  for (const { running, figures } of all) {
    const ofMain = ({ micros }: Figures) => micros[0] ?? fail();
    const best = figures.reduce((one, other) => (ofMain(other) < ofMain(one) ? other : one));
    row(
      running.checkout,
      best.perSecond.toFixed(0),
      ...best.micros.map((one) => one.toFixed(0)),
      figures.map((one) => ofMain(one).toFixed(0)).join(' '),
    );
  }
  const [first] = all;
  if (first && options.profile !== undefined) await profile(first.running, options.profile);
  if (first && options.during !== undefined) await loadDuring(first.running, options.during);
}

async function profile(running: Running, file: string): Promise<void> {
  process.kill(running.pid, 'SIGUSR2');
  const { requests } = await load(running, Number(options.seconds));
  process.kill(running.pid, 'SIGUSR2');
  process.stdout.write(`profile of ${requests} requests in ${file}\n`);
  // It is written meanwhile.
  await new Promise((done) => setTimeout(done, PROFILE_WRITTEN_MS));
}

async function loadDuring(running: Running, command: string): Promise<void> {
  const [program = fail(), ...args] = command.replaceAll('{pid}', String(running.pid)).split(' ');
  const child = spawn(program, args, { stdio: 'inherit' });
  const ended = once(child, 'exit');
  const { requests } = await load(running, Number(options.seconds));
  child.kill('SIGINT');
  await ended;
  process.stdout.write(`${requests} requests\n`);
}

if (options.bursts === undefined) await main();
else await compareBursts(Number(options.bursts));
