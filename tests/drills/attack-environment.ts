import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { auth, keys, organization } from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';
import { completion, json, startMockProvider } from '@gatehouse/gateway/testing';
import { type ServiceProcess, startService } from '../service-process.ts';
import type { Target } from './attack-kinds.ts';

// A service with one ordinary organisation and several attackers, and two providers: one that
// answers at once, and one whose answers the attackers choose.

// Half the default, so that the attackers fill what organisations share.
const BODY_LIMIT_MB = 16;
const PASSWORD = 'correct horse battery staple';
/** The heap limit (old generation) of every Node process of the service. */
const HEAP_MB = 512;
const HIGH_RATE_RPM = 6_000;

export interface Account {
  readonly email: string;
  /** The cookie of its session, as it is now. */
  readonly cookie: string;
  readonly secret: string;
}

export interface AttackEnvironment extends AsyncDisposable {
  readonly service: ServiceProcess;
  readonly victim: Account;
  /** Accounts of the victim that signed in before. */
  readonly signedIn: readonly string[];
  readonly journalDirectory: string;
  /** The ports, keys and sessions that the attackers have. */
  readonly target: Target;
  /** How many requests the gateway has not finished, those that it reads on for their usage included. */
  requestsInFlight(): Promise<number>;
  /** A session lasts a quarter of an hour, and a run may last longer. */
  refreshSessions(): Promise<void>;
}

export interface AttackEnvironmentOptions {
  /** A directory of its own. */
  readonly directory: string;
  /** The address of the attackers' provider. */
  readonly evilBaseUrl: string;
  /** How many have signed in. */
  readonly accounts: number;
  /** BODY_LIMIT_MB unless given. */
  readonly bodyLimitMb?: number;
}

export async function openAttackEnvironment(options: AttackEnvironmentOptions): Promise<AttackEnvironment> {
  await using stack = new AsyncDisposableStack();
  const usage = { prompt: 12, completion: 3 };
  const provider = stack.use(await startMockProvider(json(completion('Hello there.', usage))));
  await mkdir(options.directory, { recursive: true });
  const catalogue = join(options.directory, 'catalogue.yaml');
  await writeFile(catalogue, catalogueOf(provider.baseUrl, options.evilBaseUrl));
  const { bodyLimitMb = BODY_LIMIT_MB } = options;
  const dataDir = join(options.directory, 'data');
  const service = stack.use(
    await startService({
      DATA_DIR: dataDir,
      CATALOGUE: catalogue,
      SIGNUP_CREDIT_PKR: '1000000',
      GATEWAY_BODY_LIMIT_MB: String(bodyLimitMb),
      GATEWAY_HEAP_MB: String(HEAP_MB),
      METRICS_PORT: '0',
      NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}`,
    }),
  );
  const { apiPort } = service;
  const victim = await openAccount(apiPort, 'victim');
  const attackers: OpenAccount[] = [];
  for (const number of [1, 2, 3, 4]) attackers.push(await openAccount(apiPort, `attacker ${number}`));
  const first = new ApiClient(apiPort);
  await first.call(auth.login, { body: { email: attackers[0]?.email, password: PASSWORD } });
  const slowSecret = await mint(first, 1);
  const pipeliningSecret = await mint(first, HIGH_RATE_RPM);
  const signedIn: string[] = [];
  for (let number = 0; number < options.accounts; number += 1) {
    const email = `colleague${number}@victim.example`;
    const client = new ApiClient(apiPort);
    await client.call(auth.register, { body: { email, password: PASSWORD, organization_name: 'victim' } });
    await client.call(auth.login, { body: { email, password: PASSWORD } });
    signedIn.push(email);
  }
  const ready = service.logLines.find(({ event }) => event === 'service.ready');
  const metricsUrl = `http://127.0.0.1:${ready?.['metrics_port']}/metrics`;
  const kept = stack.move();
  return {
    service,
    async requestsInFlight() {
      const text = await (await fetch(metricsUrl)).text();
      const ofProcesses = [...text.matchAll(/^gatehouse_gateway_requests_in_flight(?:\{.*\})? (\S+)$/gm)];
      assert.ok(ofProcesses.length > 0, 'the metrics do not say how many requests are in flight');
      return ofProcesses.reduce((sum, [, count]) => sum + Number(count), 0);
    },
    async refreshSessions() {
      for (const { client } of [victim, ...attackers]) await client.call(auth.refresh);
    },
    victim,
    signedIn,
    journalDirectory: join(dataDir, 'journal'),
    target: {
      apiPort,
      gatewayPort: service.gatewayPort,
      secrets: attackers.map(({ secret }) => secret),
      pipeliningSecret,
      slowSecret,
      get cookie() {
        return attackers[0]?.cookie ?? '';
      },
      get mintingCookie() {
        return attackers[3]?.cookie ?? '';
      },
      bodyBytes: (bodyLimitMb - 0.1) * 1024 ** 2,
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Signs in with the right password; the status of the answer. */
export async function signIn(port: number, email: string): Promise<number> {
  return (await new ApiClient(port).send(auth.login, { body: { email, password: PASSWORD } })).status;
}

interface OpenAccount extends Account {
  readonly client: ApiClient;
}

async function openAccount(port: number, name: string): Promise<OpenAccount> {
  const client = new ApiClient(port);
  const email = `owner@${name.replaceAll(' ', '-')}.example`;
  await client.call(auth.register, { body: { email, password: PASSWORD, organization_name: name } });
  await client.call(auth.login, { body: { email, password: PASSWORD } });
  const secret = await mint(client, HIGH_RATE_RPM);
  return {
    client,
    email,
    secret,
    get cookie() {
      return [...client.cookies].map(([key, value]) => `${key}=${value}`).join('; ');
    },
  };
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
