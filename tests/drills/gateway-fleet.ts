import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { auth, keys, organization } from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';
import { openEmbeddedPostgres } from '@gatehouse/embedded';
import { completion, json, type MockProvider, startMockProvider } from '@gatehouse/gateway/testing';
import { type Database, type NoParameters, openDatabase, sql, statement } from '@gatehouse/store';
import { type ServiceProcess, startService } from '../service-process.ts';

/** Cost and hold of a request to the fleet's model: 8 prompt tokens, 10 completion tokens. */
export const COST_MICRO_PKR = 8 * 70 + 10 * 560;

/** An API and two gateways, each a process of its own, with one provider that answers at once. The gateways have a port
 *  each or, of one service, the same. */
export interface Fleet extends AsyncDisposable {
  readonly api: ApiClient;
  /** The first runs the API. */
  readonly services: readonly ServiceProcess[];
  readonly gatewayPorts: readonly [number, number];
  readonly provider: MockProvider;
  /** With every right. */
  readonly database: Database;
  /** Mints a key of the one organisation. */
  mint(given?: object): Promise<{ readonly id: string; readonly secret: string }>;
  /** Sends a request to one of the gateways, and resolves with the status once the answer is read. On one port, each request
   *  has a connection of its own, which the kernel gives to either. */
  ask(gateway: 0 | 1, secret: string): Promise<number>;
  /** The same; resolves with the answer to be read. */
  send(gateway: 0 | 1, secret: string): Promise<Response>;
}

const CREDENTIALS = { email: 'drill@example.com', password: 'correct horse battery staple' };
const RENEWAL_MS = 5 * 60_000;
const enrich = statement<NoParameters>(
  'drill-enrich',
  sql`
    WITH d AS (INSERT INTO deposits (organization_id, amount_micro_pkr) SELECT id, 1000000000000 FROM organizations)
    UPDATE balances SET deposited_micro_pkr = deposited_micro_pkr + 1000000000000`,
);
export const setRateLimit = statement<{ keyId: string; rateLimitRpm: number }>(
  'drill-set-rate-limit',
  sql`UPDATE api_keys SET rate_limit_rpm = ${'rateLimitRpm'} WHERE id = ${'keyId'}`,
);

export async function startFleet({
  onOnePort = false,
  environment: more = {},
}: {
  readonly onOnePort?: boolean;
  readonly environment?: Readonly<Record<string, string>>;
} = {}): Promise<Fleet> {
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-fleet-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const provider = stack.use(await startMockProvider());
  provider.script = json(completion('x', { prompt: 8, completion: 10 }));
  const catalogue = join(directory, 'catalogue.yaml');
  await writeFile(
    catalogue,
    `providers: { mock: { protocol: openai, base_url: "${provider.baseUrl}" } }
routes:
  - { id: mock/model, provider: mock, upstream_model: m, price_pkr_per_million: { input: 70, output: 560 }, max_output_tokens: 1000 }
`,
  );
  const dataDir = join(directory, 'data');
  const environment = {
    DATA_DIR: dataDir,
    CATALOGUE: catalogue,
    GATEWAY_PROCESSES: onOnePort ? '2' : '1',
    ...more,
  };
  const first = stack.use(await startService(environment));
  const second = onOnePort ? first : stack.use(await startService(environment, ['--role', 'gateway']));
  const api = new ApiClient(first.apiPort);
  await api.call(auth.register, { body: { ...CREDENTIALS, organization_name: 'Drill' } });
  await api.call(auth.login, { body: CREDENTIALS });
  // An access token lasts 15 minutes, and some drills last longer.
  const renewing = setInterval(() => void api.call(auth.refresh), RENEWAL_MS);
  stack.defer(() => clearInterval(renewing));
  const project = (await api.call(organization.listProjects)).projects[0];
  const postgres = stack.use(await openEmbeddedPostgres({ dataDir }));
  const database = stack.use(openDatabase(postgres.connection, { poolSize: 2 }));
  await database.run(enrich);
  const gatewayPorts = [first.gatewayPort, second.gatewayPort] as const;
  const body = JSON.stringify({
    model: 'mock/model',
    max_completion_tokens: 10,
    messages: [{ role: 'user', content: 'Hi' }],
  });
  const send = (gateway: 0 | 1, secret: string) =>
    fetch(`http://127.0.0.1:${gatewayPorts[gateway]}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${secret}`,
        'content-type': 'application/json',
        ...(onOnePort && { connection: 'close' }),
      },
      body,
    });
  const open = stack.move();
  return {
    api,
    services: onOnePort ? [first] : [first, second],
    gatewayPorts,
    provider,
    database,
    async mint(given = {}) {
      const { id, api_key: secret } = await api.call(keys.createKey, {
        body: { project_id: project?.id, name: 'drill', ...given },
      });
      await database.run(setRateLimit, { keyId: id, rateLimitRpm: 6_000 });
      return { id, secret };
    },
    async ask(gateway, secret) {
      const answer = await send(gateway, secret);
      await answer.arrayBuffer();
      return answer.status;
    },
    send,
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}
