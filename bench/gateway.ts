import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { auth, keys, organization } from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';
import { openEmbeddedPostgres } from '@gatehouse/embedded';
import { type NoParameters, openDatabase, sql, statement } from '@gatehouse/store';
import { startService } from '@gatehouse/tests/service-process';

// What the gateway adds to a request: the same requests are sent to a provider directly and through the service,
// alternating, from one client. The provider is a real HTTP server on a thread of its own that answers at once.
//
//   node bench/gateway.ts [requests a round]

const perRound = Number(process.argv[2] ?? 2_000);
const rounds = 5;

const PROVIDER = `
const { createServer } = require('node:http');
const { parentPort } = require('node:worker_threads');
const json = JSON.stringify({ id: 'c', object: 'chat.completion', created: 1, model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello there.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 } });
const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': json.length });
    response.end(json);
  });
});
server.keepAliveTimeout = 60000;
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

interface Figures {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

async function measure(url: string, key: string, clients: number): Promise<Figures> {
  const body = JSON.stringify({
    model: 'mock/model',
    max_tokens: 16,
    messages: [{ role: 'user', content: 'Hello' }],
  });
  const times: number[] = [];
  let left = perRound;
  const client = async () => {
    while (left > 0) {
      left -= 1;
      const startedAt = performance.now();
      const answer = await fetch(`${url}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body,
      });
      await answer.arrayBuffer();
      if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}`);
      times.push(performance.now() - startedAt);
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: clients }, client));
  const seconds = (performance.now() - startedAt) / 1000;
  times.sort((a, b) => a - b);
  const at = (share: number) =>
    times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN;
  return { perSecond: perRound / seconds, p50Ms: at(0.5), p99Ms: at(0.99) };
}

const median = (values: readonly number[]) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

async function main(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-bench-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const worker = new Worker(PROVIDER, { eval: true });
  stack.defer(async () => {
    await worker.terminate();
  });
  const providerPort = await new Promise<number>((resolve) => worker.once('message', resolve));
  const provider = `http://127.0.0.1:${providerPort}/v1`;
  await writeFile(
    join(directory, 'catalogue.yaml'),
    `providers: { mock: { protocol: openai, base_url: "${provider}" } }
routes:
  - { id: mock/model, provider: mock, upstream_model: m, price_pkr_per_million: { input: 1, output: 1 }, max_output_tokens: 100 }
`,
  );
  const service = stack.use(
    await startService({
      DATA_DIR: join(directory, 'data'),
      CATALOGUE: join(directory, 'catalogue.yaml'),
      LOG_LEVEL: 'info',
    }),
  );
  const api = new ApiClient(service.apiPort);
  const credentials = { email: 'bench@example.com', password: 'correct horse battery staple' };
  await api.call(auth.register, { body: { ...credentials, organization_name: 'Bench' } });
  await api.call(auth.login, { body: credentials });
  const project = (await api.call(organization.listProjects)).projects[0];
  const gateway = `http://127.0.0.1:${service.gatewayPort}/v1`;
  const { api_key } = await api.call(keys.createKey, { body: { project_id: project?.id, name: 'bench' } });
  // Rate limits are not measured here.
  const postgres = stack.use(await openEmbeddedPostgres({ dataDir: join(directory, 'data') }));
  const database = stack.use(openDatabase(postgres.connection, { poolSize: 1 }));
  await database.run(
    statement<NoParameters>('bench-lift-rate', sql`UPDATE api_keys SET rate_limit_rpm = 1000000`),
  );

  for (const clients of [1, 32]) {
    const direct: Figures[] = [];
    const through: Figures[] = [];
    for (let round = 0; round < rounds; round += 1) {
      direct.push(await measure(provider, 'x', clients));
      through.push(await measure(gateway, api_key, clients));
    }
    const figure = (field: keyof Figures) => {
      const [alone, behind] = [direct, through].map((all) => median(all.map((one) => one[field]))) as [
        number,
        number,
      ];
      return { alone, behind };
    };
    const [rate, p50, p99] = [figure('perSecond'), figure('p50Ms'), figure('p99Ms')];
    row(
      clients,
      'requests/s',
      rate.alone.toFixed(0),
      rate.behind.toFixed(0),
      (rate.behind / rate.alone).toFixed(2),
    );
    row(clients, 'p50 ms', p50.alone.toFixed(2), p50.behind.toFixed(2), (p50.behind / p50.alone).toFixed(2));
    row(clients, 'p99 ms', p99.alone.toFixed(2), p99.behind.toFixed(2), (p99.behind / p99.alone).toFixed(2));
  }
}

function row(...cells: (string | number)[]): void {
  process.stdout.write(`| ${cells.join(' | ')} |\n`);
}

row('clients', 'figure', 'direct', 'through the gateway', 'ratio');
row('---', '---', '---', '---', '---');
await main();
