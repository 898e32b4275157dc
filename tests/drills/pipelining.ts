import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { auth, keys, organization } from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';
import { startService } from '../service-process.ts';
import type { Drill } from './drill.ts';

// One organisation pipelines requests over eight connections, first to the API with one session, then to the gateway
// with one key. Measures the latency of another organisation on both, beside its latency alone.

const CONNECTIONS = 8;
// One that is handled, and as many as may wait.
const PIPELINED = 9;
const password = 'correct horse battery staple';

/** Keeps this many requests in flight on each connection, from a thread of its own, so that measuring is not delayed. */
const CROWD = `
const { connect } = require('node:net');
const { workerData } = require('node:worker_threads');
for (let n = 0; n < ${CONNECTIONS}; n += 1) {
  const socket = connect(workerData.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    const answers = chunk.toString('latin1').split('HTTP/1.1 ').length - 1;
    socket.write(workerData.request.repeat(answers));
  });
  socket.write(workerData.request.repeat(${PIPELINED}));
}
`;

interface Account {
  readonly cookie: string;
  readonly key: string;
}

async function open(port: number, name: string): Promise<Account> {
  const client = new ApiClient(port);
  const credentials = { email: `${name}@example.com`, password };
  await client.call(auth.register, { body: { ...credentials, organization_name: name } });
  await client.call(auth.login, { body: credentials });
  const [project] = (await client.call(organization.listProjects)).projects;
  const minted = await client.call(keys.createKey, { body: { project_id: project?.id, name } });
  // More than it can send.
  await client.call(keys.updateKey, { params: { key_id: minted.id }, body: { rate_limit_rpm: 1_000_000 } });
  return { cookie: [...client.cookies].map((pair) => pair.join('=')).join('; '), key: minted.api_key };
}

/** Sends the request over one connection, repeatedly. Returns the latency of each answer. */
async function measure(port: number, request: string, seconds: number): Promise<number[]> {
  const socket: Socket = connect(port, '127.0.0.1');
  const times: number[] = [];
  const end = performance.now() + seconds * 1000;
  let startedAt = performance.now();
  socket.write(request);
  for await (const chunk of socket) {
    if (!String(chunk).includes('HTTP/1.1 200')) throw new Error(`answered ${String(chunk).slice(0, 200)}`);
    times.push(performance.now() - startedAt);
    if (performance.now() > end) break;
    startedAt = performance.now();
    socket.write(request);
  }
  return times.toSorted((a, b) => a - b);
}

export const drill: Drill = async ({ cycles: seconds, log }) => {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-pipelining-'));
  try {
    await writeFile(
      join(directory, 'catalogue.yaml'),
      `providers: { none: { protocol: openai, base_url: "http://127.0.0.1:1/v1" } }
routes:
  - { id: none/model, provider: none, upstream_model: m, price_pkr_per_million: { input: 1, output: 1 }, max_output_tokens: 100 }
`,
    );
    await using service = await startService({
      DATA_DIR: join(directory, 'data'),
      CATALOGUE: join(directory, 'catalogue.yaml'),
      RATE_LIMIT_CEILING_RPM: '1000000',
    });
    const [crowd, victim] = [await open(service.apiPort, 'Crowd'), await open(service.apiPort, 'Victim')];
    const toApi = ({ cookie }: Account) =>
      `GET /api/keys HTTP/1.1\r\nhost: localhost\r\ncookie: ${cookie}\r\n\r\n`;
    const toGateway = ({ key }: Account) =>
      `GET /v1/models HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${key}\r\n\r\n`;
    const at = (times: readonly number[], share: number) =>
      (times[Math.min(Math.floor(times.length * share), times.length - 1)] ?? Number.NaN).toFixed(1);
    const report = async (when: string) => {
      for (const [name, port, request] of [
        ['API', service.apiPort, toApi(victim)],
        ['gateway', service.gatewayPort, toGateway(victim)],
      ] as const) {
        const times = await measure(port, request, seconds);
        log(
          `${name}, ${when}: p50 ${at(times, 0.5)} ms, p99 ${at(times, 0.99)} ms (${times.length} requests)`,
        );
      }
    };
    await report('quiet');
    for (const [where, port, request] of [
      ['API', service.apiPort, toApi(crowd)],
      ['gateway', service.gatewayPort, toGateway(crowd)],
    ] as const) {
      const worker = new Worker(CROWD, { eval: true, workerData: { port, request } });
      await report(`while eight connections pipeline to the ${where}`);
      await worker.terminate();
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  return [];
};
