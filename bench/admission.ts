import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KeyId, OrganizationId, RequestId } from '@gatehouse/contract';
import { openEmbeddedPostgres } from '@gatehouse/embedded';
import { type AdmissionOfOne, admit, createAdmissions } from '@gatehouse/gateway/testing';
import {
  type Database,
  migratePostgres,
  type NoParameters,
  openDatabase,
  SERVICE_ROLE,
  sql,
  statement,
} from '@gatehouse/store';

// The gain of admitting concurrent requests of an organisation in one statement. The same requests are admitted with one
// statement each over the pool, and as the gateway does it, alternating, on one server. Then the same with the surplus of each
// hold released before the client's next request.
//
//   node bench/admission.ts [requests a round]

const perRound = Number(process.argv[2] ?? 4_000);
const ROUNDS = 5;

interface Key {
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
const forgetHolds = statement<NoParameters>('bench-forget-holds', sql`TRUNCATE holds`);

type Work = (key: Key) => Promise<unknown>;

const COST_MICRO_PKR = 3n;

const admission = ({ id }: Key): AdmissionOfOne => ({
  requestId: randomUUID() as string as RequestId,
  keyId: id,
  leastMicroPkr: 5n,
  mostMicroPkr: 10n,
  isByok: false,
  holdMs: 90_000,
});

function alone(database: Database): Work {
  return (key) => admit(database, key.organizationId, [admission(key)]);
}

/** As the gateway admits. */
function together(database: Database): Work {
  const admissions = createAdmissions(database, 60_000);
  return (key) => admissions.admit(key.organizationId, admission(key));
}

function released(database: Database): Work {
  const admissions = createAdmissions(database, 60_000);
  return async (key) => {
    const request = admission(key);
    await admissions.admit(key.organizationId, request);
    const finished = { requestId: request.requestId, costMicroPkr: COST_MICRO_PKR };
    await admissions.finish(key.organizationId, finished);
  };
}

interface Figures {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

async function measure(work: Work, keys: readonly Key[], clients: number): Promise<Figures> {
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

const median = (values: readonly number[]) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

function row(...cells: (string | number)[]): void {
  process.stdout.write(`| ${cells.join(' | ')} |\n`);
}

async function main(): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-bench-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const { connection } = stack.use(await openEmbeddedPostgres({ dataDir: directory }));
  const owner = stack.use(openDatabase(connection, { poolSize: 1 }));
  await migratePostgres(owner, { serviceMayLogIn: true });
  const database = stack.use(openDatabase({ ...connection, user: SERVICE_ROLE }));

  const newKeys = async (organizations: number, each: number): Promise<Key[]> => {
    const keys: Key[] = [];
    for (let n = 0; n < organizations; n += 1) {
      const organization = await owner.one(insertOrganization, { name: randomUUID() });
      if (!organization) throw new Error('no organisation was inserted');
      keys.push(...(await owner.many(insertKeys, { organizationId: organization.id, count: each })));
    }
    return keys;
  };
  const loads = [
    ['one key', await newKeys(1, 1)],
    ['64 keys of one organisation', await newKeys(1, 64)],
    ['a key of each of 64 organisations', await newKeys(64, 1)],
  ] as const;

  const works = [alone, together, released].map((make) => make(database));
  row('keys', 'clients', 'figure', 'each alone', 'together', 'ratio', 'and released', 'ratio to together');
  row('---', '---', '---', '---', '---', '---', '---', '---');
  for (const [name, keys] of loads) {
    for (const clients of [1, 32, 128]) {
      const figures: Figures[][] = works.map(() => []);
      for (let round = 0; round < ROUNDS; round += 1) {
        for (const [index, work] of works.entries()) {
          figures[index]?.push(await measure(work, keys, clients));
          await owner.run(forgetHolds);
        }
      }
      for (const [label, field, digits] of [
        ['requests/s', 'perSecond', 0],
        ['p50 ms', 'p50Ms', 2],
        ['p99 ms', 'p99Ms', 2],
      ] as const) {
        const [one = Number.NaN, all = Number.NaN, both = Number.NaN] = figures.map((rounds) =>
          median(rounds.map((round) => round[field])),
        );
        const [first, second, third] = [one, all, both].map((figure) => figure.toFixed(digits));
        row(
          name,
          clients,
          label,
          `${first}`,
          `${second}`,
          (all / one).toFixed(2),
          `${third}`,
          (both / all).toFixed(2),
        );
      }
    }
  }
}

await main();
