import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { auth, keys, organization } from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';
import { type EmbeddedPostgres, openEmbeddedPostgres } from '@gatehouse/embedded';
import { type Database, openDatabase } from '@gatehouse/store';
import { childEnvironment } from '../../child-environment.ts';
import { type ServiceProcess, startService } from '../../service-process.ts';

// The service that the soak loads: embedded stores, four organisations with keys of each kind, and a provider that answers
// at once in a process of its own.

export const PASSWORD = 'correct horse battery staple';
const ORGANIZATIONS = 4;
const KEYS_EACH = 4;
const HIGH_RATE_RPM = 1_000_000;

export const ROUTES = {
  chat: 'soak/chat',
  /** The route of a provider with the same format. */
  messages: 'soak/messages',
} as const;

export interface SoakOrganization {
  readonly email: string;
  /** Signed in. */
  readonly api: ApiClient;
  readonly projectId: string;
  /** Keys that nothing limits. */
  readonly secrets: readonly string[];
  /** One request a minute. */
  readonly slowSecret: string;
  /** Its credit covers no request. */
  readonly poorSecret: string;
  readonly revokedSecret: string;
}

export interface SoakService extends AsyncDisposable {
  readonly service: ServiceProcess;
  readonly dataDir: string;
  readonly metricsPort: number;
  readonly organizations: readonly SoakOrganization[];
  readonly database: Database;
  readonly postgres: EmbeddedPostgres;
  readonly directory: string;
}

export async function startSoakService(): Promise<SoakService> {
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-soak-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const port = await startProvider(stack);
  const catalogue = join(directory, 'catalogue.yaml');
  await writeFile(catalogue, catalogueOf(port));
  const dataDir = join(directory, 'data');
  const service = stack.use(
    await startService({
      DATA_DIR: dataDir,
      CATALOGUE: catalogue,
      METRICS_PORT: '0',
      SIGNUP_CREDIT_PKR: '100000000',
      RATE_LIMIT_CEILING_RPM: String(HIGH_RATE_RPM),
      LOG_LEVEL: 'info',
    }),
  );
  const organizations: SoakOrganization[] = [];
  for (let number = 1; number <= ORGANIZATIONS; number += 1)
    organizations.push(await openOrganization(service.apiPort, number));
  const postgres = stack.use(await openEmbeddedPostgres({ dataDir }));
  const database = stack.use(openDatabase(postgres.connection, { poolSize: 2 }));
  const open = stack.move();
  const ready = service.logLines.find(({ event }) => event === 'service.ready');
  return {
    service,
    dataDir,
    directory,
    metricsPort: Number(ready?.['metrics_port']),
    organizations,
    database,
    postgres,
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

async function startProvider(stack: AsyncDisposableStack): Promise<number> {
  const program = join(import.meta.dirname, '../../../bench/gateway/instant-provider.ts');
  const child: ChildProcess = spawn(process.execPath, [program], {
    env: childEnvironment(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  stack.defer(() => void child.kill());
  const [line] = (await once(child.stdout ?? child, 'data')) as [Buffer];
  return Number(line.toString());
}

async function openOrganization(apiPort: number, number: number): Promise<SoakOrganization> {
  const api = new ApiClient(apiPort);
  const email = `owner@soak-${number}.example`;
  await api.call(auth.register, { body: { email, password: PASSWORD, organization_name: `Soak ${number}` } });
  await api.call(auth.login, { body: { email, password: PASSWORD } });
  const projectId = (await api.call(organization.listProjects)).projects[0]?.id ?? '';
  const mint = async (name: string, given: object = {}) =>
    api.call(keys.createKey, { body: { project_id: projectId, name, ...given } });
  // An update replaces every limit of a key.
  const limit = (id: string, rate: number, credit = 0) =>
    api.call(keys.updateKey, {
      params: { key_id: id },
      body: { rate_limit_rpm: rate, credit_limit_pkr: credit },
    });
  const secrets: string[] = [];
  for (let each = 0; each < KEYS_EACH; each += 1) {
    const minted = await mint(`fast ${each}`);
    await limit(minted.id, HIGH_RATE_RPM);
    secrets.push(minted.api_key);
  }
  const slow = await mint('slow');
  await limit(slow.id, 1);
  const poor = await mint('poor');
  await limit(poor.id, HIGH_RATE_RPM, 0.01);
  const revoked = await mint('revoked');
  await api.call(keys.revokeKey, { params: { key_id: revoked.id } });
  return {
    email,
    api,
    projectId,
    secrets,
    slowSecret: slow.api_key,
    poorSecret: poor.api_key,
    revokedSecret: revoked.api_key,
  };
}

const catalogueOf = (port: number) => `providers:
  chat: { protocol: openai, base_url: "http://127.0.0.1:${port}/v1" }
  messages: { protocol: anthropic, base_url: "http://127.0.0.1:${port}/v1" }
routes:
  - { id: ${ROUTES.chat}, provider: chat, upstream_model: m, price_pkr_per_million: { input: 70, output: 560 }, max_output_tokens: 200 }
  - { id: ${ROUTES.messages}, provider: messages, upstream_model: m, price_pkr_per_million: { input: 70, output: 560 }, max_output_tokens: 200 }
`;
