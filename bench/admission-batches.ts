import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedPostgres } from '@gatehouse/embedded';
import { migratePostgres, openDatabase } from '@gatehouse/store';

// What PostgreSQL works for one request, by the processor time of its backend (Linux): in a batch of `admit_batch`, which
// also lowers the holds of the batch before, and as it was before, with a statement for the key, one for the route, and one
// of admission for each organisation. The two alternate on one server.
//
//   node bench/admission-batches.ts [requests a round]

const perRound = Number(process.argv[2] ?? 2_000);
const ROUNDS = 5;

interface Key {
  readonly id: string;
  readonly organizationId: string;
}
/** Admits a request of each key after lowering the holds of those before. Returns the new ones' ids. */
type Batch = (keys: readonly Key[], finished: readonly string[]) => Promise<string[]>;

const KEYS = `
  WITH o AS (INSERT INTO organizations (name, name_key) SELECT n, n FROM (SELECT gen_random_uuid()::text AS n) AS x RETURNING id),
       b AS (INSERT INTO balances (organization_id, deposited_micro_pkr) SELECT id, 1000000000000000 FROM o),
       p AS (INSERT INTO projects (organization_id, name) SELECT id, 'Default' FROM o RETURNING id, organization_id)
  INSERT INTO api_keys (organization_id, project_id, name, key_prefix, secret_hash, rate_limit_rpm, environment)
  SELECT p.organization_id, p.id, 'k', 'p', uuid_send(gen_random_uuid()), 60, 'testing' FROM p, generate_series(1, $1::integer)
  RETURNING id, organization_id AS "organizationId"`;

await using stack = new AsyncDisposableStack();
const directory = await mkdtemp(join(tmpdir(), 'gatehouse-bench-'));
stack.defer(() => rm(directory, { recursive: true, force: true }));
const { connection } = stack.use(await openEmbeddedPostgres({ dataDir: directory }));
const owner = stack.use(openDatabase(connection, { poolSize: 1 }));
await migratePostgres(owner, { serviceMayLogIn: true });
const client = await owner.connect();
stack.defer(() => client.end());
const settler = await owner.connect();
stack.defer(() => settler.end());
await client.query(await readFile(new URL('admission-before.sql', import.meta.url), 'utf8'));

const first = async <T>(text: string): Promise<T> => (await client.query(text)).rows[0];
const { pid } = await first<{ pid: number }>('SELECT pg_backend_pid() AS pid');
const { version } = await first<{ version: bigint }>('SELECT version FROM catalogue_version');
const cpuMicros = async () =>
  Number((await readFile(`/proc/${pid}/schedstat`, 'utf8')).split(' ')[0]) / 1_000;
const ask = (name: string, text: string, values: unknown[]) =>
  client.query({ name, text, values, rowMode: 'array' });
const all = <T>(keys: readonly unknown[], value: T): T[] => keys.map(() => value);

/** Each request's own: the key, the route; of each organisation's requests one statement. */
const before: Batch = async (keys, finished) => {
  for (const { id } of keys) {
    await ask('key', 'SELECT * FROM api_keys k WHERE k.id = $1 AND k.revoked_at IS NULL', [id]);
    await ask(
      'route',
      `SELECT * FROM routes r JOIN route_targets t ON t.route_id = r.id JOIN providers p ON p.name = t.provider
       WHERE r.is_active AND r.id = ANY (ARRAY[$1, (SELECT a.route_id FROM route_aliases a WHERE a.alias = $1)])`,
      ['demo/echo'],
    );
  }
  const ids = keys.map(() => randomUUID());
  for (const [organizationId, own] of Map.groupBy(keys.keys(), (n) => keys[n]?.organizationId)) {
    const some = <T>(list: readonly T[]) => own.flatMap((n) => list[n] ?? []);
    const lowered = some(finished);
    await ask('before', 'SELECT * FROM admit_organization($1, $2, $3, $4, $5, $6, $7, $8, $9)', [
      ...[organizationId, lowered, all(lowered, 3), some(ids), some(keys).map(({ id }) => id)],
      ...[all(own, 5), all(own, 10), all(own, false), all(own, 90_000)],
    ]);
  }
  return ids;
};

const after: Batch = async (keys, finished) => {
  const ids = keys.map(() => randomUUID());
  const organizationIds = keys.map(({ organizationId }) => organizationId);
  await ask(
    'after',
    'SELECT * FROM admit_batch($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)',
    [
      ...[finished, organizationIds.slice(0, finished.length), all(finished, 3), ids, organizationIds],
      ...[keys.map(({ id }) => id), all(keys, 5), all(keys, 10), all(keys, false), all(keys, 90_000)],
      ...[all(keys, version), all(keys, 0), all(keys, 0), 100],
    ],
  );
  return ids;
};

/** Microseconds of the backend for each request. Settled holds are deleted meanwhile, over another connection. */
async function measure(work: Batch, keys: readonly Key[]): Promise<number> {
  const batches = Math.ceil(perRound / keys.length);
  let ids: string[] = [];
  const startedAt = await cpuMicros();
  for (let n = 0; n < batches; n += 1) {
    ids = await work(keys, ids);
    if (n % Math.ceil(256 / keys.length) === 0) await settler.query('DELETE FROM holds WHERE is_final');
  }
  const spent = (await cpuMicros()) - startedAt;
  await settler.query('DELETE FROM holds');
  return spent / (batches * keys.length);
}

const one = (await client.query<Key>(KEYS, [32])).rows;
const many: Key[] = [];
for (let n = 0; n < 32; n += 1) many.push(...(await client.query<Key>(KEYS, [1])).rows);
const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

process.stdout.write(
  '| requests in a batch | organisations | before, µs | after, µs | ratio |\n| --- | --- | --- | --- | --- |\n',
);
for (const [organizations, keys] of [
  [1, one],
  [32, many],
] as const) {
  for (const size of [1, 8, 32]) {
    const some = keys.slice(0, size);
    const rounds: [number, number][] = [];
    for (let round = 0; round <= ROUNDS; round += 1)
      rounds.push([await measure(before, some), await measure(after, some)]);
    // The first one warms up.
    const [earlier, now] = [0, 1].map((which) =>
      median(rounds.slice(1).map((round) => round[which] ?? 0)),
    ) as [number, number];
    const cells = [
      size,
      Math.min(size, organizations),
      earlier.toFixed(0),
      now.toFixed(0),
      (now / earlier).toFixed(2),
    ];
    process.stdout.write(`| ${cells.join(' | ')} |\n`);
  }
}
