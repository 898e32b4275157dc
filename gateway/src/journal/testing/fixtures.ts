import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KeyId, OrganizationId, ProjectId, RequestId } from '@gatehouse/contract';
import { type Attempt, type Database, sql, statement } from '@gatehouse/store';
import { type Logger, pino } from 'pino';
import { admit } from '../../testing/admit.ts';
import { type FinishedFields, type FinishedRequest, finishRequest } from '../finished-request.ts';
import type { Processes } from '../instance-directory.ts';
import type { JournalOptions } from '../journal.ts';
import { encodeLine } from '../record-line.ts';

/** An organisation with a balance and keys, on which requests are counted. */
export interface Account {
  readonly organizationId: OrganizationId;
  readonly projectId: ProjectId;
  readonly keyIds: readonly KeyId[];
}

const insertAccount = statement<{ name: string; projectId: ProjectId }, { organizationId: OrganizationId }>(
  'journal-test-insert-account',
  sql`
    WITH o AS (INSERT INTO organizations (name, name_key) VALUES (${'name'}, ${'name'}) RETURNING id),
         p AS (INSERT INTO projects (id, organization_id, name) SELECT ${'projectId'}, id, 'Default' FROM o),
         b AS (INSERT INTO balances (organization_id, deposited_micro_pkr) SELECT id, 1000000000000 FROM o)
    SELECT id AS organization_id FROM o`,
);
const insertKeys = statement<{
  ids: readonly KeyId[];
  organizationId: OrganizationId;
  projectId: ProjectId;
}>(
  'journal-test-insert-keys',
  sql`
    INSERT INTO api_keys (id, organization_id, project_id, name, key_prefix, secret_hash, rate_limit_rpm, environment)
    SELECT id, ${'organizationId'}, ${'projectId'}, 'key', 'sk_svc_test', sha256(uuid_send(id)), 60, 'testing'
    FROM unnest(${'ids'}::uuid[]) AS id`,
);

export async function createAccount(database: Database, keys = 2): Promise<Account> {
  const projectId = randomUUID() as string as ProjectId;
  const keyIds = Array.from({ length: keys }, () => randomUUID() as string as KeyId);
  const row = await database.one(insertAccount, { name: randomUUID(), projectId });
  assert.ok(row);
  const { organizationId } = row;
  await database.run(insertKeys, { ids: keyIds, organizationId, projectId });
  return { organizationId, projectId, keyIds };
}

type FinishedOfKey = FinishedRequest & {
  readonly requestId: RequestId;
  readonly organizationId: OrganizationId;
  readonly keyId: KeyId;
};

/** A request of the account's first key that cost something, with these changes. */
export function finished(
  account: { organizationId: string; projectId: string; keyIds: readonly string[] },
  changes: Partial<FinishedFields> = {},
): FinishedOfKey {
  return finishRequest({
    requestId: randomUUID(),
    organizationId: account.organizationId,
    keyId: account.keyIds[0] ?? assert.fail('the account has no key'),
    projectId: account.projectId,
    startedAtMicros: 1_795_000_000_123_456n,
    model: 'openai/gpt-5-mini',
    status: 200,
    isStream: true,
    totalMs: 812.5,
    ttftMs: 90.25,
    tpotMs: 11,
    preDispatchMs: 3,
    promptTokens: 120,
    tokensGenerated: 64,
    cacheCreationInputTokens: null,
    cacheReadInputTokens: null,
    totalTokens: 184,
    tokensEstimated: false,
    costMicroPkr: 1_000n,
    isByok: false,
    terminationReason: 'success',
    refusal: '',
    upstreamError: null,
    upstreamModel: 'gpt-5-mini',
    userAgent: 'test',
    metadata: new Map([['team', 'red']]),
    attempts: [],
    isHeld: false,
    ...changes,
  }) as FinishedOfKey;
}

/** An attempt that failed, with these changes. */
export function attempt(changes: Partial<Attempt> = {}): Attempt {
  return {
    provider: 'azure',
    upstreamModel: 'gpt-5-mini',
    credential: 'default',
    isByok: false,
    status: 503,
    startedMs: 3,
    totalMs: 40.125,
    ttftMs: null,
    promptTokens: null,
    tokensGenerated: 0,
    costMicroPkr: 0n,
    ending: 'error_status',
    error: 'overloaded',
    ...changes,
  };
}

/** Makes the hold of a request as the gateway does. With a negative `holdMs` its deadline has passed already. */
export async function hold(
  database: Database,
  { requestId, organizationId, keyId }: Pick<FinishedOfKey, 'requestId' | 'organizationId' | 'keyId'>,
  amountMicroPkr: bigint,
  holdMs = 60_000,
): Promise<void> {
  const amount = { leastMicroPkr: amountMicroPkr, mostMicroPkr: amountMicroPkr };
  const [decision] = await admit(database, organizationId, [
    { requestId, keyId, ...amount, isByok: false, holdMs },
  ]);
  assert.equal(decision?.kind, 'admitted');
}

export interface Books {
  readonly spent: bigint;
  readonly held: bigint;
  readonly settlements: bigint;
  readonly holds: bigint;
}

const readBooks = statement<{ organizationId: OrganizationId }, Books & { readonly isBalanced: boolean }>(
  'journal-test-read-books',
  sql`
    WITH keys AS (
      SELECT k.organization_id, k.spent_micro_pkr AS spent, k.held_micro_pkr AS held,
             coalesce((SELECT sum(cost_micro_pkr) FROM settlements s WHERE s.key_id = k.id), 0)
             + coalesce((SELECT spent_micro_pkr FROM settlement_totals t WHERE t.key_id = k.id), 0) AS settled,
             coalesce((SELECT sum(amount_micro_pkr) FROM holds h WHERE h.key_id = k.id), 0) AS holding,
             k.unsettled_micro_pkr AS unsettled,
             coalesce((SELECT sum(amount_micro_pkr) FROM holds h WHERE h.key_id = k.id AND h.is_final), 0) AS final
      FROM api_keys k WHERE k.organization_id = ${'organizationId'}
    )
    SELECT b.spent_micro_pkr AS spent, b.held_micro_pkr AS held,
           (SELECT count(*) FROM settlements WHERE organization_id = ${'organizationId'}) AS settlements,
           (SELECT count(*) FROM holds WHERE organization_id = ${'organizationId'}) AS holds,
           (SELECT bool_and(spent = settled AND held = holding AND unsettled = final)
                   AND sum(spent) = b.spent_micro_pkr AND sum(held) = b.held_micro_pkr
                   AND sum(unsettled) = b.unsettled_micro_pkr FROM keys) AS is_balanced
    FROM balances b WHERE b.organization_id = ${'organizationId'}`,
);

/** The account's totals. Fails unless every total equals the sum of its rows. */
export async function books(database: Database, account: Account): Promise<Books> {
  const row = await database.one(readBooks, { organizationId: account.organizationId });
  assert.ok(row);
  const { isBalanced, ...totals } = row;
  assert.ok(
    isBalanced,
    `the sums of the account differ from its rows: ${JSON.stringify(totals, bigintAsText)}`,
  );
  return totals;
}

function bigintAsText(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

/** A telemetry store that drops a token it has seen, and fails when a test says so. */
export class TestTelemetrySink {
  readonly rows: FinishedRequest[] = [];
  readonly batches = new Map<string, string>();
  inserts = 0;
  /** Thrown instead of storing. */
  failure: Error | undefined;
  /** Thrown after storing: the answer was lost. */
  lostAnswer: Error | undefined;
  rejects: (row: FinishedRequest) => boolean = () => false;

  readonly ship = async (rows: FinishedRequest[], token: string): Promise<void> => {
    this.inserts += 1;
    if (this.failure) throw this.failure;
    if (rows.some(this.rejects)) throw new RangeError('a row that no table accepts');
    const content = rows.map(encodeLine).join('');
    const known = this.batches.get(token);
    if (known === undefined) {
      this.batches.set(token, content);
      this.rows.push(...rows);
    } else {
      // A real store would drop these without an error: rows that differed would be lost.
      assert.equal(content, known, `token ${token} came again with other rows`);
    }
    if (this.lostAnswer) throw this.lostAnswer;
  };

  get requestIds(): string[] {
    return this.rows.map(({ requestId }) => requestId).sort();
  }
}

/** The log so far, as parsed lines. */
export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly [field: string]: unknown;
}

const LEVELS: Readonly<Record<number, string>> = { 30: 'info', 40: 'warn', 50: 'error' };

export function memoryLog(): {
  log: Logger;
  lines: LogLine[];
  messages(level: number): string[];
  events(): [level: string, event: string][];
} {
  const lines: LogLine[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const messages = (level: number) => lines.filter((line) => line.level === level).map(({ msg }) => msg);
  const events = () =>
    lines.map(({ level, event }): [string, string] => [LEVELS[level] ?? String(level), String(event)]);
  return { log, lines, messages, events };
}

/** Processes of which a test says which are alive. A journal opened as `name` is that process. */
export class TestProcesses {
  readonly dead = new Set<string>();
  readonly unknown = new Set<string>();

  as(name: string): Processes {
    return {
      own: () => ({ pid: 1, startTicks: name, hostScope: 'test' }),
      stateOf: ({ startTicks }) =>
        this.dead.has(startTicks) ? 'dead' : this.unknown.has(startTicks) ? 'unknown' : 'alive',
    };
  }
}

/** A directory that is removed when disposed. */
export async function temporaryDirectory(): Promise<AsyncDisposable & { path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'journal-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Options with which no wait is longer than a few milliseconds. */
export const quick = {
  ledgerIntervalMs: 1,
  telemetryIntervalMs: 1,
  firstRetryMs: 1,
  lastRetryMs: 5,
  rejectedRetryMs: 1,
} satisfies Partial<JournalOptions>;

/** A database that a test can make unavailable. */
export function gated(database: Database): Database & { isOpen: boolean } {
  const gate = { ...database, isOpen: true };
  const check = async () => {
    if (!gate.isOpen) throw new Error('no PostgreSQL');
  };
  gate.one = async (...args) => check().then(() => database.one(...args));
  gate.many = async (...args) => check().then(() => database.many(...args));
  return gate;
}
