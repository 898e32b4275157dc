import assert from 'node:assert/strict';
import { randomInt, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { auth, type Endpoint, keys, organization, vault } from '@gatehouse/contract';
import { verifyActivity } from '@gatehouse/control-plane/activity';
import { ApiClient, type Given } from '@gatehouse/control-plane/testing';
import { openEmbeddedPostgres } from '@gatehouse/embedded';
import { type Database, type NoParameters, openDatabase, sql, statement } from '@gatehouse/store';
import { startService } from '../service-process.ts';

// Changes of every kind, from several concurrent clients, on a service that is killed meanwhile. Afterwards
// the data and the activity log must match one to one: no change without its entry, no entry without
// its change, and no acknowledged change lost.

const PASSWORD = 'correct horse battery staple';
const CLIENTS = 6;

/** The answers of all clients in all rounds. */
export interface Told {
  /** Changes that were acknowledged, by the action and the target of their entry. */
  readonly acknowledged: Map<string, number>;
  /** Targets of changes that were refused: no entry may have them. */
  readonly refused: Set<string>;
  /** How many requests got no answer, because the service was killed. */
  cutOff: number;
}

export function nothingTold(): Told {
  return { acknowledged: new Map(), refused: new Set(), cutOff: 0 };
}

/**
 * Starts the service on the data directory, lets the clients make changes, and kills it without warning at most a
 * second after the first of them was acknowledged; the database server too, if asked.
 */
export async function oneRound(dataDir: string, told: Told, withDatabase: boolean): Promise<void> {
  await using service = await startService({ DATA_DIR: dataDir });
  const stop = new AbortController();
  const { promise: hasBegun, resolve: begun } = Promise.withResolvers<void>();
  const clients = Promise.all(
    Array.from({ length: CLIENTS }, () =>
      changeThings({
        client: new ApiClient(service.apiPort),
        provider: 'openai',
        told,
        signal: stop.signal,
        onChange: begun,
      }),
    ),
  );
  // Errors of the clients are thrown below.
  clients.catch(() => undefined);
  // Hashing passwords is slow: with a fixed delay, a slow machine might not have changed anything yet.
  await Promise.race([hasBegun, clients]);
  await delay(randomInt(1_000));
  if (withDatabase) {
    const postmaster = Number(
      (await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8')).split('\n')[0],
    );
    process.kill(postmaster, 'SIGKILL');
  }
  const ended = service.end('SIGKILL');
  stop.abort();
  assert.equal(await ended, 'SIGKILL', `the service ended by itself: ${service.told()}`);
  await clients;
}

export interface Changing {
  /** A client without a session. */
  readonly client: ApiClient;
  /** A provider of the catalogue that takes a key. */
  readonly provider: string;
  readonly told: Told;
  readonly signal: AbortSignal;
  onChange(): void;
  /** Between two changes; none unless given. */
  readonly pauseMs?: number;
  /** At least 0 and below 1; unseeded unless given. */
  readonly random?: () => number;
}

/** One client: an account in an organisation of its own, making every kind of change until the end, or until there is no answer. */
export async function changeThings(changing: Changing): Promise<void> {
  const { client, provider, told, signal, onChange, pauseMs = 0, random = Math.random } = changing;
  const email = `${randomUUID()}@example.com`;
  let name = `Org ${randomUUID()}`;
  const live: { id: string; prefix: string }[] = [];
  const note = (action: string, target: string) => {
    const entry = `${action} ${target}`;
    told.acknowledged.set(entry, (told.acknowledged.get(entry) ?? 0) + 1);
    onChange();
  };
  /** The reply's body; undefined when it was refused. Throws Stopped when there was no answer. */
  const attempt = async (endpoint: Endpoint, given: Given, target?: string) => {
    const reply = await client.send(endpoint, given).catch((error: Error) => {
      told.cutOff += 1;
      throw new Stopped(error.message);
    });
    if (reply.status < 300) return JSON.parse(reply.text) as Record<string, string>;
    // The database may end a moment before the service.
    assert.ok(reply.status < 500 || reply.status === 503, `${endpoint.name} ${reply.status} ${reply.text}`);
    if (reply.status !== 503 && target !== undefined) told.refused.add(target);
    return undefined;
  };
  const signIn = async () => {
    const isIn = await attempt(auth.login, { body: { email, password: PASSWORD } });
    if (isIn) note('user.login', email);
    return isIn !== undefined;
  };

  try {
    const registered = await attempt(auth.register, {
      body: { email, password: PASSWORD, organization_name: name },
    });
    if (!registered) return;
    note('member.joined', email);
    if (!(await signIn())) return;
    const listed = await attempt(organization.listProjects, {});
    const projectId = (listed as { projects?: { id: string }[] } | undefined)?.projects?.[0]?.id;
    if (projectId === undefined) return;
    while (!signal.aborted) {
      if (pauseMs > 0) await delay(pauseMs);
      const choice = Math.floor(random() * 14);
      if (choice < 4) {
        const minted = await attempt(keys.createKey, { body: { project_id: projectId, name: 'k' } });
        if (!minted) continue;
        note('api_key.created', String(minted['key_prefix']));
        live.push({ id: String(minted['id']), prefix: String(minted['key_prefix']) });
      } else if (choice < 6) {
        const key = live.shift();
        if (!key) continue;
        if (await attempt(keys.revokeKey, { params: { key_id: key.id } }))
          note('api_key.revoked', key.prefix);
        // Already revoked: refused, without a second entry.
        await attempt(keys.revokeKey, { params: { key_id: key.id } });
      } else if (choice < 8) {
        const next = `Org ${randomUUID()}${choice === 6 ? '' : '<'}`;
        if (!(await attempt(organization.renameOrganization, { body: { name: next } }, next))) continue;
        note('org.renamed', next);
        name = next;
      } else if (choice < 9) {
        const colleague = `${randomUUID()}@example.com`;
        const body = { email: colleague, password: PASSWORD, organization_name: name };
        if (await attempt(auth.register, { body })) note('member.joined', colleague);
        // The same address a second time.
        await attempt(auth.register, { body });
      } else if (choice < 10) {
        if (await attempt(auth.logout, {})) note('user.logout', email);
        // If that was not done, the session stays.
        else client.cookies.clear();
        if (!(await signIn())) return;
      } else if (choice < 12) {
        const key = live[0];
        const body = { rate_limit_rpm: 1 + Math.floor(random() * 6_000) };
        if (key && (await attempt(keys.updateKey, { params: { key_id: key.id }, body })))
          note('api_key.updated', key.prefix);
      } else if (choice === 12) {
        const body = { provider, api_key: `own-key-${randomUUID()}` };
        if (await attempt(vault.setVaultKey, { body })) note('vault_key.set', provider);
      } else if (await attempt(vault.revokeVaultKey, { params: { provider } })) {
        note('vault_key.revoked', provider);
      }
    }
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
  }
}

class Stopped extends Error {}

/** The number of changes and the number of their entries. */
export interface Balance {
  readonly changes: bigint;
  readonly entries: bigint;
}

// Each kind of change with its rows and its entries. Changes with rows of their own are compared row by row;
// a sign-in leaves a session, which a sign-out removes.
const compare = statement<NoParameters, { kind: string; what: string; rows: bigint; entries: bigint }>(
  'drill-compare',
  sql`WITH change (kind, organization_id, what) AS (
     SELECT 'member.joined', organization_id, email FROM users
     UNION ALL SELECT 'api_key.created', organization_id, key_prefix FROM api_keys
     UNION ALL SELECT 'api_key.revoked', organization_id, key_prefix FROM api_keys WHERE revoked_at IS NOT NULL
     UNION ALL SELECT 'budget.deposited', organization_id,
                      trim_scale(amount_micro_pkr::numeric / 1000000) || '.00 PKR' FROM deposits
     UNION ALL SELECT 'user.login', u.organization_id, u.email FROM sessions s JOIN users u ON u.id = s.user_id
     UNION ALL SELECT 'user.login', organization_id, target FROM activity_events WHERE action = 'user.logout'
   ), entry (kind, organization_id, what) AS (
     SELECT action, organization_id, target FROM activity_events
     WHERE action NOT IN ('org.renamed', 'user.logout', 'api_key.updated', 'vault_key.set', 'vault_key.revoked')
   ), counted AS (
     SELECT kind, organization_id, what, 1 AS row, 0 AS entry FROM change
     UNION ALL SELECT kind, organization_id, what, 0, 1 FROM entry
   )
   SELECT kind, coalesce(max(what), '') AS what, sum(row) AS rows, sum(entry) AS entries
   FROM counted GROUP BY kind, organization_id, what`,
);

/** Organisations whose name is not that of their newest rename. */
const misnamed = statement<NoParameters, { name: string }>(
  'drill-misnamed',
  sql`SELECT o.name FROM organizations o
   JOIN LATERAL (SELECT target FROM activity_events e WHERE e.organization_id = o.id AND e.action = 'org.renamed'
                 ORDER BY sequence DESC LIMIT 1) newest ON newest.target <> o.name`,
);

/** Organisations that have a key in the vault although their newest entry about it says otherwise, or the other way round. */
const mismatchedVaults = statement<NoParameters, { name: string }>(
  'drill-mismatched-vaults',
  sql`SELECT o.name FROM organizations o
   LEFT JOIN LATERAL (SELECT action FROM activity_events e WHERE e.organization_id = o.id AND e.action LIKE 'vault\\_key.%'
                      ORDER BY sequence DESC LIMIT 1) newest ON true
   WHERE coalesce(newest.action = 'vault_key.set', false)
         <> EXISTS (SELECT FROM vault_keys v WHERE v.organization_id = o.id)`,
);

const unfinished = statement<NoParameters, { name: string }>(
  'drill-unfinished',
  sql`SELECT name FROM organizations o
   WHERE NOT EXISTS (SELECT FROM users u WHERE u.organization_id = o.id AND u.role = 'owner')
      OR NOT EXISTS (SELECT FROM projects p WHERE p.organization_id = o.id)
      OR NOT EXISTS (SELECT FROM deposits d WHERE d.organization_id = o.id)`,
);

const countEntries = statement<NoParameters, { entry: string; count: bigint }>(
  'drill-count-entries',
  sql`SELECT action || ' ' || target AS entry, count(*) AS count FROM activity_events GROUP BY 1`,
);

/** Throws when a change and its entry do not match, or when an acknowledged change is missing. */
export async function checkOneToOne(dataDir: string, told: Told): Promise<Balance> {
  await using server = await openEmbeddedPostgres({ dataDir });
  await using database = openDatabase(server.connection, { poolSize: 2 });
  return await checkChanges(database, told);
}

/** The same for a database that is open. */
export async function checkChanges(database: Database, told: Told): Promise<Balance> {
  const rows = await database.many(compare);
  for (const { kind, what, rows: changes, entries } of rows)
    assert.equal(changes, entries, `${kind} ${what}: ${changes} changes and ${entries} entries`);
  assert.deepEqual(await database.many(misnamed), [], 'renamed without an entry, or the other way round');
  assert.deepEqual(await database.many(mismatchedVaults), [], 'a vault does not match its entries');
  assert.deepEqual(await database.many(unfinished), [], 'an organisation is half made');
  await checkTold(database, told);
  for await (const { organizationName, broken } of verifyActivity(database))
    assert.equal(broken, null, `the chain of ${organizationName} is broken`);
  return {
    changes: rows.reduce((sum, row) => sum + row.rows, 0n),
    entries: rows.reduce((sum, row) => sum + row.entries, 0n),
  };
}

async function checkTold(database: Database, told: Told): Promise<void> {
  const found = new Map(
    (await database.many(countEntries)).map(({ entry, count }) => [entry, Number(count)]),
  );
  for (const [entry, count] of told.acknowledged) {
    assert.ok((found.get(entry) ?? 0) >= count, `${entry} was acknowledged and has no entry`);
  }
  for (const target of told.refused)
    assert.equal(found.get(`org.renamed ${target}`), undefined, `${target} was refused and has an entry`);
}
