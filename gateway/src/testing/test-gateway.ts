import { randomBytes, randomUUID } from 'node:crypto';
import { gatewayKeyPrefix, generateGatewayKey, hashGatewayKey, type MemberRule } from '@gatehouse/contract';
import {
  type Database,
  fixedKeyRing,
  type Statement,
  type StatementArguments,
  statement,
} from '@gatehouse/store';
import { TEST_MASTER_KEY } from '@gatehouse/store/testing';
import { pino } from 'pino';
import type { Provider } from '../catalogue/queries.ts';
import { createGateway, type Gateway, type GatewayDeps } from '../gateway.ts';
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
  fetch(path: string, init?: RequestInit): Promise<Response>;
}

export async function startTestGateway(
  database: Database,
  overrides: Partial<GatewayDeps> = {},
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
    databasePatienceMs: 60_000,
    ...overrides,
    // Whatever a test writes into the Host header.
    settings: { bodyLimitBytes: 1024 * 1024, allowedHosts: '*', ...overrides.settings },
  });
  const { port } = await gateway.listen({ host: '127.0.0.1', port: 0 });
  const send = (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${port}${path}`, init);
  return {
    gateway,
    port,
    journal,
    time,
    logged,
    fetch: send,
    chat: (secret, body = {}, init = {}) =>
      send('/v1/chat/completions', {
        method: 'POST',
        ...init,
        headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}`, ...init.headers },
        body: JSON.stringify({ model: 'mock/model', messages: [{ role: 'user', content: 'Hi' }], ...body }),
      }),
    async [Symbol.asyncDispose]() {
      await gateway.close({ graceMs: 0 });
    },
  };
}

/** What the gateway uses at the mock provider. */
export const PLATFORM_KEY = 'sk-platform-0123456789abcdef';

const insertOrganization = statement<{ id: string }>(
  'test-insert-organization',
  `WITH o AS (INSERT INTO organizations (name, name_key) VALUES ($1, $1) RETURNING id),
        b AS (INSERT INTO balances (organization_id, deposited_micro_pkr) SELECT id, $2 FROM o)
   SELECT id FROM o`,
);
const insertProject = statement<{ id: string }>(
  'test-insert-project',
  `INSERT INTO projects (organization_id, name) VALUES ($1, 'Default') RETURNING id`,
);
const insertKey = statement<{ id: string }>(
  'test-insert-key',
  `INSERT INTO api_keys (organization_id, project_id, name, key_prefix, secret_hash, rate_limit_rpm, expires_at,
                         credit_limit_micro_pkr, allowed_models, environment)
   VALUES ($1, $2, 'test', $3, $4, $5, clock_timestamp() + $6::interval, $7, $8, 'testing') RETURNING id`,
);

export interface IssuedKey {
  readonly id: string;
  readonly secret: string;
  readonly prefix: string;
  readonly organizationId: string;
  readonly projectId: string;
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
    readonly organizationId?: string;
  } = {},
): Promise<IssuedKey> {
  const organizationId =
    options.organizationId ??
    (await only(database, insertOrganization, [randomUUID(), options.depositedMicroPkr ?? 10n ** 15n])).id;
  const projectId = (await only(database, insertProject, [organizationId])).id;
  const secret = generateGatewayKey(randomBytes);
  const prefix = gatewayKeyPrefix(secret);
  const { id } = await only(database, insertKey, [
    organizationId,
    projectId,
    prefix,
    hashGatewayKey(secret),
    options.rateLimitRpm ?? 1_000,
    options.expiresIn ?? null,
    options.creditLimitMicroPkr ?? null,
    options.allowedModels ?? null,
  ]);
  return { id, secret, prefix, organizationId, projectId };
}

const insertProvider = statement(
  'test-insert-provider',
  `INSERT INTO providers (name, protocol, base_url, api_key_env, output_limit, deny)
   VALUES ($1, $2, $3, $4, $5, $6)`,
);
const insertRoute = statement(
  'test-insert-route',
  `INSERT INTO routes (id, provider, upstream_model, endpoints, input_micro_pkr_per_million,
                       output_micro_pkr_per_million, cache_write_micro_pkr_per_million,
                       cache_read_micro_pkr_per_million, byok_fee_millionths, max_output_tokens, timeout_ms, is_active,
                       default_output_tokens, min_output_tokens, max_input_tokens, allow)
   VALUES ($1, $2, 'upstream-model', $3, $4, $5, 0, 0, 50000, $6, $7, $8, $9, $10, $11, $12)`,
);

/** A provider of its own with one route. */
export async function addRoute(
  database: Database,
  options: {
    readonly id?: string;
    readonly protocol?: string;
    readonly baseUrl?: string | null;
    readonly apiKeyEnv?: string | null;
    readonly endpoints?: readonly string[];
    readonly inputMicroPkrPerMillion?: bigint;
    readonly outputMicroPkrPerMillion?: bigint;
    readonly maxOutputTokens?: number;
    readonly defaultOutputTokens?: number;
    readonly minOutputTokens?: number;
    readonly maxInputTokens?: number;
    readonly outputLimit?: Provider['outputLimit'];
    /** The default list unless given. */
    readonly deny?: readonly MemberRule[];
    readonly allow?: readonly MemberRule[];
    readonly timeoutMs?: number;
    readonly isActive?: boolean;
  },
): Promise<void> {
  const id = options.id ?? 'mock/model';
  const { baseUrl = null, apiKeyEnv = 'MOCK_API_KEY' } = options;
  await database.run(insertProvider, [
    `provider of ${id}`,
    options.protocol ?? 'openai',
    baseUrl,
    apiKeyEnv,
    options.outputLimit ?? 'max_completion_tokens',
    options.deny ? JSON.stringify(options.deny) : null,
  ]);
  await database.run(insertRoute, [
    id,
    `provider of ${id}`,
    options.endpoints ?? ['chat'],
    options.inputMicroPkrPerMillion ?? 70_000_000n,
    options.outputMicroPkrPerMillion ?? 560_000_000n,
    options.maxOutputTokens ?? 1_000,
    options.timeoutMs ?? ROUTE_TIMEOUT_MS,
    options.isActive ?? true,
    options.defaultOutputTokens ?? null,
    options.minOutputTokens ?? null,
    options.maxInputTokens ?? null,
    JSON.stringify(options.allow ?? []),
  ]);
}

export const ROUTE_TIMEOUT_MS = 30_000;

export interface Money {
  readonly keySpent: bigint;
  readonly keyHeld: bigint;
  readonly balanceHeld: bigint;
  readonly holds: bigint;
}

const moneyStatement = statement<Money>(
  'test-money',
  `SELECT k.spent_micro_pkr AS "keySpent", k.held_micro_pkr AS "keyHeld", b.held_micro_pkr AS "balanceHeld",
          (SELECT count(*) FROM holds h WHERE h.key_id = k.id) AS "holds"
   FROM api_keys k JOIN balances b USING (organization_id) WHERE k.id = $1`,
);

/** What is set aside and spent on a key and in its organisation. */
export function moneyOf(database: Database, keyId: string): Promise<Money> {
  return only(database, moneyStatement, [keyId]);
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
