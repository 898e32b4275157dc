import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KeyId, OrganizationId, RequestId } from '@gatehouse/contract';
import { openEmbeddedPostgres } from '@gatehouse/embedded';
import { type AdmissionOfOne, createAdmissions } from '@gatehouse/gateway/testing';
import {
  type Database,
  migratePostgres,
  type NoParameters,
  openDatabase,
  SERVICE_ROLE,
  sql,
  statement,
} from '@gatehouse/store';

// What the benchmarks of admissions share: a database, keys, and clients that admit one request after the other.

export interface Key {
  readonly id: KeyId;
  readonly organizationId: OrganizationId;
}

const insertOrganization = statement<{ name: string }, { id: OrganizationId }>(
  'bench-insert-organization',
  sql`
    WITH o AS (INSERT INTO organizations (name, name_key) VALUES (${'name'}, ${'name'}) RETURNING id),
         b AS (INSERT INTO balances (organization_id, deposited_micro_pkr) SELECT id, 1000000000000000 FROM o)
    SELECT id FROM o`,
);
const insertKeys = statement<{ organizationId: OrganizationId; count: number }, Key>(
  'bench-insert-keys',
  sql`
    WITH p AS (INSERT INTO projects (organization_id, name) VALUES (${'organizationId'}, 'Default') RETURNING id)
    INSERT INTO api_keys (organization_id, project_id, name, key_prefix, secret_hash, rate_limit_rpm, environment,
                          credit_limit_micro_pkr)
    SELECT ${'organizationId'}, p.id, 'k', 'p', uuid_send(gen_random_uuid()), 60, 'testing', 1000000000000
    FROM p, generate_series(1, ${'count'})
    RETURNING id, organization_id`,
);
export const forgetHolds = statement<NoParameters>('bench-forget-holds', sql`TRUNCATE holds`);

/** A database of its own, which ends with the stack. */
export async function openBenchDatabase(
  stack: AsyncDisposableStack,
): Promise<{ owner: Database; database: Database }> {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-bench-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const { connection } = stack.use(await openEmbeddedPostgres({ dataDir: directory }));
  const owner = stack.use(openDatabase(connection, { poolSize: 1 }));
  await migratePostgres(owner, { serviceMayLogIn: true });
  return { owner, database: stack.use(openDatabase({ ...connection, user: SERVICE_ROLE })) };
}

/** Makes organisations, and `each` keys of each. */
export async function newKeys(owner: Database, organizations: number, each: number): Promise<Key[]> {
  const keys: Key[] = [];
  for (let n = 0; n < organizations; n += 1) {
    const organization = await owner.one(insertOrganization, { name: randomUUID() });
    if (!organization) throw new Error('no organisation was inserted');
    keys.push(...(await owner.many(insertKeys, { organizationId: organization.id, count: each })));
  }
  return keys;
}

/** One request of a client. */
export type Work = (key: Key) => Promise<unknown>;

const COST_MICRO_PKR = 3n;

export const admission = ({ id }: Key): AdmissionOfOne => ({
  requestId: randomUUID() as string as RequestId,
  keyId: id,
  leastMicroPkr: 5n,
  mostMicroPkr: 10n,
  isByok: false,
  holdMs: 90_000,
});

/** As the gateway admits, with the surplus of each hold released at the end of its request. */
export function released(database: Database): Work {
  const admissions = createAdmissions(database, 60_000);
  return async (key) => {
    const request = admission(key);
    await admissions.admit(key.organizationId, request);
    const finished = { requestId: request.requestId, costMicroPkr: COST_MICRO_PKR };
    await admissions.finish(key.organizationId, finished);
  };
}

export interface Figures {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** The clients share the requests; a single one sends a quarter of them. */
export async function measure(
  work: Work,
  keys: readonly Key[],
  clients: number,
  perRound: number,
): Promise<Figures> {
  const times: number[] = [];
  let left = clients === 1 ? perRound / 4 : perRound;
  const requests = left;
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (left > 0) {
        left -= 1;
        const sentAt = performance.now();
        await work(keys[left % keys.length] as Key);
        times.push(performance.now() - sentAt);
      }
    }),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor((times.length - 1) * share)] ?? Number.NaN;
  return { perSecond: requests / seconds, p50Ms: at(0.5), p99Ms: at(0.99) };
}

export const median = (values: readonly number[]) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
