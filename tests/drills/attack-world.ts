import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { auth, keys, organization } from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';
import { completion, json, startMockProvider } from '@gatehouse/gateway/testing';
import { type ServiceProcess, startService } from '../service-process.ts';

// A service with one organisation that minds its own business and several that do not, and two providers: one that
// answers at once, and one whose answers the attackers choose.

export const PASSWORD = 'correct horse battery staple';
/** What the whole service must do with: the old generation of every Node process of it. */
const HEAP_MB = 512;

export interface Account {
  readonly email: string;
  readonly cookie: string;
  readonly secret: string;
}

export interface AttackWorld extends AsyncDisposable {
  readonly service: ServiceProcess;
  readonly victim: Account;
  /** Of organisations of their own, with the highest rate that a key can have. */
  readonly attackers: readonly Account[];
  /** A key of one request a minute, of the first attacker. */
  readonly slowSecret: string;
  /** Accounts of the victim that have signed in before. */
  readonly signedIn: readonly string[];
  readonly journalDirectory: string;
}

export interface AttackWorldOptions {
  readonly directory: string;
  /** Where the provider of the attackers listens. */
  readonly evilBaseUrl: string;
  readonly accounts: number;
}

export async function openAttackWorld(options: AttackWorldOptions): Promise<AttackWorld> {
  await using stack = new AsyncDisposableStack();
  const usage = { prompt: 12, completion: 3 };
  const provider = stack.use(await startMockProvider(json(completion('Hello there.', usage))));
  const catalogue = join(options.directory, 'catalogue.yaml');
  await writeFile(catalogue, catalogueOf(provider.baseUrl, options.evilBaseUrl));
  const dataDir = join(options.directory, 'data');
  const service = stack.use(
    await startService({
      DATA_DIR: dataDir,
      CATALOGUE: catalogue,
      SIGNUP_CREDIT_PKR: '1000000',
      NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}`,
    }),
  );
  const { apiPort } = service;
  const victim = await openAccount(apiPort, 'victim');
  const attackers: Account[] = [];
  for (const number of [1, 2, 3, 4]) attackers.push(await openAccount(apiPort, `attacker ${number}`));
  const first = new ApiClient(apiPort);
  await first.call(auth.login, { body: { email: attackers[0]?.email, password: PASSWORD } });
  const slow = await mint(first, 1);
  const signedIn: string[] = [];
  for (let number = 0; number < options.accounts; number += 1) {
    const email = `colleague${number}@victim.example`;
    const client = new ApiClient(apiPort);
    await client.call(auth.register, { body: { email, password: PASSWORD, organization_name: 'victim' } });
    await client.call(auth.login, { body: { email, password: PASSWORD } });
    signedIn.push(email);
  }
  const kept = stack.move();
  return {
    service,
    victim,
    attackers,
    slowSecret: slow,
    signedIn,
    journalDirectory: join(dataDir, 'journal'),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

async function openAccount(port: number, name: string): Promise<Account> {
  const client = new ApiClient(port);
  const email = `owner@${name.replaceAll(' ', '-')}.example`;
  await client.call(auth.register, { body: { email, password: PASSWORD, organization_name: name } });
  await client.call(auth.login, { body: { email, password: PASSWORD } });
  const secret = await mint(client, 6_000);
  return { email, secret, cookie: [...client.cookies].map(([key, value]) => `${key}=${value}`).join('; ') };
}

async function mint(client: ApiClient, rateLimitRpm: number): Promise<string> {
  const { projects } = await client.call(organization.listProjects);
  const minted = await client.call(keys.createKey, {
    body: { project_id: projects[0]?.id, name: `${rateLimitRpm} a minute` },
  });
  await client.call(keys.updateKey, {
    params: { key_id: minted.id },
    body: { rate_limit_rpm: rateLimitRpm },
  });
  return minted.api_key;
}

function catalogueOf(good: string, evil: string): string {
  const route = (id: string, provider: string) => `
  - id: ${id}
    provider: ${provider}
    upstream_model: model
    price_pkr_per_million: { input: 1, output: 1 }
    max_output_tokens: 4096`;
  return `providers:
  good: { protocol: openai, base_url: ${good} }
  evil: { protocol: openai, base_url: ${evil} }
routes:${route('good/model', 'good')}${route('evil/model', 'evil')}
`;
}

/** The process and all of its descendants, with the memory that each has in use, in MiB. */
export async function memoryOf(pid: number): Promise<Map<number, { command: string; rssMb: number }>> {
  const found = new Map<number, { command: string; rssMb: number }>();
  const open = [pid];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    const status = await readFile(`/proc/${one}/status`, 'utf8').catch(() => '');
    const rss = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
    if (rss === undefined) continue;
    const command = await readFile(`/proc/${one}/cmdline`, 'utf8').catch(() => '');
    found.set(one, { command: command.replaceAll('\0', ' ').trim(), rssMb: Number(rss) / 1024 });
    const children = await readFile(`/proc/${one}/task/${one}/children`, 'utf8').catch(() => '');
    open.push(...children.split(' ').filter(Boolean).map(Number));
  }
  return found;
}
