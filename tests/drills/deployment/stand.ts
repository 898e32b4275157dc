import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { auth, keys, organization } from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';
import { openEmbeddedClickHouse } from '@gatehouse/embedded';
import { type MockProvider, startMockProvider } from '@gatehouse/gateway/testing';
import { freePort } from '@gatehouse/http/testing';
import { eventually } from '../../service-process.ts';
import { startFaultProxy } from '../fault-proxy.ts';
import { startPostgres } from '../nodes/postgres-server.ts';

const ADDRESS = '127.0.0.41';
const ACCOUNT = { email: 'ada@example.com', password: 'correct horse battery staple' };
/** Beyond what a drill asks. */
const RATE_RPM = 1_000_000;

/** The stores and the provider of a service that runs elsewhere, and its settings, with every secret in a file. */
export interface DeploymentStand extends AsyncDisposable {
  readonly provider: MockProvider;
  readonly api: ApiClient;
  readonly ports: { readonly api: number; readonly gateway: number };
  /** The folder of the secrets and the catalogue. */
  readonly secrets: string;
  /** For a service that sees that folder at this path. */
  environment(secrets: string): Readonly<Record<string, string>>;
  /** Resolves when both listeners are ready. */
  ready(): Promise<void>;
  /** Signs up, and mints a key without a limit that the drill could reach. */
  mint(): Promise<string>;
  /** Signs in once more. */
  signIn(): Promise<number>;
  /** Sends a chat request. */
  ask(secret: string, body: object): Promise<Response>;
}

export async function openDeploymentStand(directory: string): Promise<DeploymentStand> {
  await using stack = new AsyncDisposableStack();
  await mkdir(directory);
  const postgres = stack.use(await startPostgres(directory, ADDRESS));
  const clickhouse = stack.use(await openEmbeddedClickHouse({ dataDir: join(directory, 'clickhouse') }));
  const { port: clickhousePort } = stack.use(await startFaultProxy({ path: clickhouse.socketPath }));
  const provider = stack.use(await startMockProvider());
  const ports = { api: await freePort(), gateway: await freePort() };
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
  const api = new ApiClient(ports.api);
  const isReady = (port: number) =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  const open = stack.move();
  return {
    ...{ provider, api, ports, secrets },
    environment: (folder) => ({
      DATABASE_URL_FILE: `${folder}/database_url`,
      GATEHOUSE_MASTER_KEY_FILE: `${folder}/master_key`,
      CLICKHOUSE_URL: `http://127.0.0.1:${clickhousePort}`,
      CATALOGUE: `${folder}/catalogue.yaml`,
      HOST: '127.0.0.1',
      JOIN_POLICY: 'closed',
      SIGNUP_CREDIT_PKR: '1000',
      PORT: `${ports.api}`,
      GATEWAY_PORT: `${ports.gateway}`,
      DRAIN_DELAY: '1',
      RATE_LIMIT_CEILING_RPM: `${RATE_RPM}`,
    }),
    async ready() {
      await eventually(
        async () =>
          (await Promise.all([isReady(ports.api), isReady(ports.gateway)])).every(Boolean) || undefined,
      );
    },
    async mint() {
      await api.call(auth.register, { body: { ...ACCOUNT, organization_name: 'Acme' } });
      await api.call(auth.login, { body: ACCOUNT });
      const { projects } = await api.call(organization.listProjects);
      const { id, api_key: secret } = await api.call(keys.createKey, {
        body: { name: 'drill', project_id: projects[0]?.id },
      });
      await api.call(keys.updateKey, { params: { key_id: id }, body: { rate_limit_rpm: RATE_RPM } });
      return secret;
    },
    async signIn() {
      return (await new ApiClient(ports.api).send(auth.login, { body: ACCOUNT })).status;
    },
    ask: (secret, body) =>
      fetch(`http://127.0.0.1:${ports.gateway}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'mock/model', ...body }),
      }),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

const WORDS = 20;
const WORD_MS = 150;
export const SLOW_STREAM_SECONDS = (WORDS * WORD_MS) / 1_000;

/** A provider's stream that takes some seconds, or one word where only one token is asked for. */
export const slowStream: MockProvider['script'] = async (response, { body }) => {
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

/** True if a caller has all of it. */
export function isWholeStream(text: string): boolean {
  return text.includes(`word${WORDS - 1} `) && text.includes('[DONE]');
}

export function secondsSince(startedAt: number): string {
  return `${((performance.now() - startedAt) / 1_000).toFixed(1)} s`;
}
