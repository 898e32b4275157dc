import { randomBytes, randomUUID } from 'node:crypto';
import {
  gatewayKeyPrefix,
  generateGatewayKey,
  hashGatewayKey,
  type KeyId,
  type OrganizationId,
  type ProjectId,
  type TokenHash,
} from '@gatehouse/contract';
import {
  type Database,
  fixedKeyRing,
  type Statement,
  type StatementArguments,
  sql,
  statement,
} from '@gatehouse/store';
import { TEST_MASTER_KEY } from '@gatehouse/store/testing';
import { pino } from 'pino';
import { createGateway, type Gateway, type GatewayDependencies } from '../gateway.ts';

export { addRoute, ROUTE_TIMEOUT_MS } from './add-route.ts';

import { createManualTime, type ManualTime } from './manual-time.ts';
import { createMemoryJournal, type MemoryJournal } from './memory-journal.ts';

/** A gateway on a free port over the given database, with a journal, a time and a log that tests can look into. */
export interface TestGateway extends AsyncDisposable {
  readonly gateway: Gateway;
  readonly port: number;
  readonly journal: MemoryJournal;
  readonly time: ManualTime;
  /** Every log line, parsed. */
  readonly logged: Record<string, unknown>[];
  /** Sends a chat completion with the key; members of `body` replace the defaults. */
  chat(secret: string, body?: object, init?: RequestInit): Promise<Response>;
  /** Sends a body with the key to another endpoint; an object has `mock/model` as its model unless it names one. */
  post(path: string, secret: string, body: object | string, init?: RequestInit): Promise<Response>;
  fetch(path: string, init?: RequestInit): Promise<Response>;
}

/** The gateways of this process. */
const running = new Set<Gateway>();

export async function startTestGateway(
  database: Database,
  overrides: Partial<GatewayDependencies> = {},
): Promise<TestGateway> {
  const journal = createMemoryJournal();
  const time = createManualTime();
  const logged: Record<string, unknown>[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => logged.push(JSON.parse(line)) });
  const gateway = createGateway({
    database,
    journal,
    log,
    clock: time.clock,
    timers: time.timers,
    platformKey: (name) => (name === 'MOCK_API_KEY' ? PLATFORM_KEY : undefined),
    keyRing: fixedKeyRing([TEST_MASTER_KEY]),
    // Longer than any test takes, however slow the machine.
    databaseTimeoutMs: 60_000,
    ...overrides,
    // Whatever a test writes into the Host header.
    settings: { bodyLimitBytes: 1024 * 1024, allowedHosts: '*', ...overrides.settings },
  });
  const { port } = await gateway.listen({ host: '127.0.0.1', port: 0 });
  running.add(gateway);
  const send = (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${port}${path}`, init);
  const post: TestGateway['post'] = (path, secret, body, init = {}) =>
    send(path, {
      method: 'POST',
      ...init,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}`, ...init.headers },
      body: typeof body === 'string' ? body : JSON.stringify({ model: 'mock/model', ...body }),
    });
  return {
    gateway,
    port,
    journal,
    time,
    logged,
    fetch: send,
    chat: (secret, body = {}, init = {}) =>
      post('/v1/chat/completions', secret, { messages: [{ role: 'user', content: 'Hi' }], ...body }, init),
    post,
    async [Symbol.asyncDispose]() {
      running.delete(gateway);
      await gateway.close({ graceMs: 0 });
    },
  };
}

/** The credential of the gateway at the mock provider. */
export const PLATFORM_KEY = 'sk-platform-0123456789abcdef';

const insertOrganization = statement<{ name: string; depositedMicroPkr: bigint }, { id: OrganizationId }>(
  'gateway-test-insert-organization',
  sql`
    WITH o AS (INSERT INTO organizations (name, name_key) VALUES (${'name'}, ${'name'}) RETURNING id),
         b AS (INSERT INTO balances (organization_id, deposited_micro_pkr) SELECT id, ${'depositedMicroPkr'} FROM o)
    SELECT id FROM o`,
);
const insertProject = statement<{ organizationId: OrganizationId }, { id: ProjectId }>(
  'gateway-test-insert-project',
  sql`INSERT INTO projects (organization_id, name) VALUES (${'organizationId'}, 'Default') RETURNING id`,
);
const insertKey = statement<
  {
    organizationId: OrganizationId;
    projectId: ProjectId;
    prefix: string;
    secretHash: TokenHash;
    rateLimitRpm: number;
    expiresIn: string | null;
    creditLimitMicroPkr: bigint | null;
    allowedModels: readonly string[] | null;
  },
  { id: KeyId }
>(
  'gateway-test-insert-key',
  sql`
    INSERT INTO api_keys (organization_id, project_id, name, key_prefix, secret_hash, rate_limit_rpm, expires_at,
                          credit_limit_micro_pkr, allowed_models, environment)
    VALUES (${'organizationId'}, ${'projectId'}, 'test', ${'prefix'}, ${'secretHash'}, ${'rateLimitRpm'},
            clock_timestamp() + ${'expiresIn'}::interval, ${'creditLimitMicroPkr'}, ${'allowedModels'}, 'testing')
    RETURNING id`,
);

export interface IssuedKey {
  readonly id: KeyId;
  readonly secret: string;
  readonly prefix: string;
  readonly organizationId: OrganizationId;
  readonly projectId: ProjectId;
}

/** A key in an organisation of its own. `expiresIn` is an interval such as `-1 second`. */
export async function issueKey(
  database: Database,
  options: {
    readonly depositedMicroPkr?: bigint;
    readonly creditLimitMicroPkr?: bigint;
    readonly rateLimitRpm?: number;
    readonly expiresIn?: string;
    readonly allowedModels?: readonly string[];
    readonly organizationId?: OrganizationId;
  } = {},
): Promise<IssuedKey> {
  const organizationId =
    options.organizationId ??
    (
      await only(database, insertOrganization, {
        name: randomUUID(),
        depositedMicroPkr: options.depositedMicroPkr ?? 10n ** 15n,
      })
    ).id;
  const projectId = (await only(database, insertProject, { organizationId })).id;
  const secret = generateGatewayKey(randomBytes);
  const prefix = gatewayKeyPrefix(secret);
  const { id } = await only(database, insertKey, {
    organizationId,
    projectId,
    prefix,
    secretHash: hashGatewayKey(secret),
    rateLimitRpm: options.rateLimitRpm ?? 1_000,
    expiresIn: options.expiresIn ?? null,
    creditLimitMicroPkr: options.creditLimitMicroPkr ?? null,
    allowedModels: options.allowedModels ?? null,
  });
  return { id, secret, prefix, organizationId, projectId };
}

export interface Money {
  readonly keySpent: bigint;
  readonly keyHeld: bigint;
  readonly balanceHeld: bigint;
  readonly holds: bigint;
}

const findMoney = statement<{ keyId: KeyId }, Money>(
  'gateway-test-money',
  sql`
    SELECT k.spent_micro_pkr AS key_spent, k.held_micro_pkr AS key_held, b.held_micro_pkr AS balance_held,
           (SELECT count(*) FROM holds h WHERE h.key_id = k.id) AS holds
    FROM api_keys k JOIN balances b USING (organization_id) WHERE k.id = ${'keyId'}`,
);

/** The amounts that are set aside and spent on a key and in its organisation. */
export async function moneyOf(database: Database, keyId: KeyId): Promise<Money> {
  await Promise.all(Array.from(running, (gateway) => gateway.flush()));
  return only(database, findMoney, { keyId });
}

export async function only<Parameters, Row>(
  database: Database,
  query: Statement<Parameters, Row>,
  ...given: StatementArguments<NoInfer<Parameters>>
): Promise<Row> {
  const row = await database.one(query, ...given);
  if (!row) throw new Error(`${query.name} returned no row`);
  return row;
}
