import { randomBytes } from 'node:crypto';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { analytics, auth, keys, organization } from '@gatehouse/contract';
import { askHttps, cookiesOf, type TlsAddress } from '../../https-client.ts';
import { eventually } from '../../service-process.ts';
import type { DrillSettings } from '../drill.ts';
import { buildImage, type Engine, isInstalled, ROOT, run, ULIMITS } from './podman.ts';
import { secondsSince } from './stand.ts';
import { makeStoreImages } from './store-images.ts';

// Caddy makes a certificate of its own for these names, and they lead to this machine.
const API = 'gatehouse.localhost';
const GATEWAY = 'gateway.localhost';
const ACCOUNT = { email: 'ada@example.com', password: 'correct horse battery staple' };
const SERVICES = ['api-1', 'api-2', 'gateway-1', 'gateway-2'];
const STORES = ['postgres', 'clickhouse', 'valkey'];
const REQUESTS = 20;
const FILES = { catalogue: '/catalogue.yaml', provider: '/provider.ts' };

/**
 * compose.yaml by podman-compose: stores of Debian in images of the names that it wants, two APIs and two gateways behind Caddy, requests
 * through Caddy, all of it stopped and started again.
 */
export async function runCompose(engine: Engine, { log }: DrillSettings): Promise<readonly string[]> {
  if (!(await isInstalled('podman-compose'))) {
    log('skipped: podman-compose is not installed (apt-get install podman-compose)');
    return [];
  }
  await buildImage(engine);
  await makeStoreImages(engine);
  const compose = await prepareCompose(engine);
  const startedAt = performance.now();
  await using stack = new AsyncDisposableStack();
  stack.defer(() => compose('down', '-v'));
  await compose('up', '-d');
  const caddy = await openCaddy(engine);
  log(`up and ready behind Caddy in ${secondsSince(startedAt)}`);

  const broken: string[] = [];
  for (const store of STORES)
    await eventually(() => orNothing(engine.podman('healthcheck', 'run', `gatehouse_${store}_1`)));
  const secret = await caddy.signUp();
  const answered = await caddy.ask(secret);
  if (answered.some((status) => status !== 200))
    broken.push(`${REQUESTS} requests were answered ${answered.join(', ')}`);
  const rows = await caddy.rows(REQUESTS);
  log(`${REQUESTS} requests, ${rows} recorded`);
  if (rows !== REQUESTS) broken.push(`${REQUESTS} requests were answered, and ${rows} are recorded`);

  const stoppedAt = performance.now();
  await compose('down');
  log(`down in ${secondsSince(stoppedAt)}`);
  await compose('up', '-d');
  const again = await openCaddy(engine);
  const after = await again.ask(secret);
  if (after.some((status) => status !== 200))
    broken.push(`once it was down and up, requests were answered ${after.join(', ')}`);
  await again.signIn();
  const kept = await again.rows(2 * REQUESTS);
  log(`down and up again: ${kept} recorded in all`);
  if (kept !== 2 * REQUESTS) broken.push(`${2 * REQUESTS} requests were answered, and ${kept} are recorded`);
  return broken;
}

function orNothing<T>(attempt: Promise<T>): Promise<T | undefined> {
  return attempt.catch(() => undefined);
}

/** Writes the settings of compose.yaml and what it is given besides, and returns the command. */
async function prepareCompose(engine: Engine): Promise<(...args: string[]) => Promise<void>> {
  const folder = join(engine.directory, 'deploy/compose');
  await cp(join(ROOT, 'deploy'), join(engine.directory, 'deploy'), { recursive: true });
  const values: Readonly<Record<string, string>> = {
    GATEHOUSE_HOST: API,
    GATEWAY_HOST: GATEWAY,
    POSTGRES_PASSWORD: randomBytes(24).toString('hex'),
    CLICKHOUSE_PASSWORD: randomBytes(24).toString('hex'),
    GATEHOUSE_MASTER_KEY: randomBytes(32).toString('base64'),
  };
  const example = await readFile(join(folder, 'example.env'), 'utf8');
  const settings = example.replaceAll(
    /^([A-Z_]+)=(.*)$/gm,
    (_, name: string, value: string) => `${name}=${values[name] ?? value}`,
  );
  await writeFile(join(folder, '.env'), `${settings}SIGNUP_CREDIT_PKR=1000\n`);
  await writeFile(
    join(folder, 'catalogue.yaml'),
    `providers: { mock: { protocol: openai, base_url: "http://provider:8000/v1" } }
routes:
  - { id: mock/model, provider: mock, upstream_model: m, price_pkr_per_million: { input: 70, output: 560 }, max_output_tokens: 1000 }
`,
  );
  const catalogue = {
    environment: { CATALOGUE: FILES.catalogue },
    volumes: [`${folder}/catalogue.yaml:${FILES.catalogue}:ro`],
  };
  const provider = {
    image: 'docker.io/library/node:24-bookworm-slim',
    command: ['node', FILES.provider],
    volumes: [`${join(import.meta.dirname, 'provider-main.ts')}:${FILES.provider}:ro`],
    networks: ['outside'],
  };
  const ulimits = Object.fromEntries(
    Object.entries(ULIMITS).map(([name, most]) => [name, { soft: most, hard: most }]),
  );
  const services = Object.fromEntries(
    [...STORES, ...SERVICES, 'caddy', 'provider'].map((name) => [
      name,
      { ...(SERVICES.includes(name) && catalogue), ...(name === 'provider' && provider), ulimits },
    ]),
  );
  // YAML reads JSON.
  await writeFile(join(folder, 'drill.yaml'), JSON.stringify({ services }));
  // The command takes one file for the engine, and no arguments of it.
  const podman = join(engine.directory, 'podman');
  await writeFile(podman, `#!/bin/sh\nexec podman ${engine.arguments.join(' ')} "$@"\n`, { mode: 0o755 });
  return async (...args) => {
    await run(
      'podman-compose',
      [
        '--podman-path',
        podman,
        '-p',
        'gatehouse',
        '-f',
        join(folder, 'compose.yaml'),
        '-f',
        join(folder, 'drill.yaml'),
        ...args,
      ],
      { cwd: folder },
    );
  };
}

/** Calls through Caddy. Resolves when both listeners behind it are ready. */
async function openCaddy(engine: Engine) {
  const root = '/data/caddy/pki/authorities/local/root.crt';
  const ca = Buffer.from(
    await eventually(() => orNothing(engine.podman('exec', 'gatehouse_caddy_1', 'cat', root))),
  );
  const at = (name: string): TlsAddress => ({ host: '127.0.0.1', port: 443, name, ca });
  for (const name of [API, GATEWAY])
    await eventually(async () => {
      const answer = await orNothing(askHttps(at(name), { path: '/readyz' }));
      return answer?.status === 200 || undefined;
    });
  let cookie = '';
  const call = async ({ method, path }: Readonly<Record<'method' | 'path', string>>, body?: unknown) => {
    const answer = await askHttps(at(API), { method, path: `/api${path}`, headers: { cookie }, body });
    if ((answer.status ?? 0) >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    cookie = cookiesOf(answer) || cookie;
    return answer.text === '' ? undefined : JSON.parse(answer.text);
  };
  const signIn = () => call(auth.login, ACCOUNT);
  return {
    signIn,
    async signUp(): Promise<string> {
      await call(auth.register, { ...ACCOUNT, organization_name: 'Acme' });
      await signIn();
      const { projects } = await call(organization.listProjects);
      return (await call(keys.createKey, { name: 'drill', project_id: projects[0].id })).api_key;
    },
    /** Sends requests, every second one a stream; resolves with their statuses, 0 for a stream that was cut. */
    ask: (secret: string) =>
      Promise.all(
        Array.from({ length: REQUESTS }, async (_, index) => {
          const stream = index % 2 === 1;
          const { status, text } = await askHttps(at(GATEWAY), {
            path: '/v1/chat/completions',
            headers: { authorization: `Bearer ${secret}` },
            body: { model: 'mock/model', stream, messages: [{ role: 'user', content: 'hi' }] },
          });
          return stream && status === 200 && !text.includes('[DONE]') ? 0 : status;
        }),
      ),
    /** The rows of the organisation once there are so many, or what there is in time. */
    rows: async (wanted: number): Promise<number> => {
      const count = async () => (await call(analytics.listRequests)).total;
      return await eventually(async () => {
        const total = await count();
        return total >= wanted ? total : undefined;
      }).catch(count);
    },
  };
}
