import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { randomInt, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { auth, vault } from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';
import { openEmbeddedPostgres } from '@gatehouse/embedded';
import {
  createKeyRing,
  type Database,
  type KeyRing,
  MasterKey,
  type NoParameters,
  openDatabase,
  openRecord,
  type SealedRecord,
  sealRecord,
  sql,
  statement,
} from '@gatehouse/store';
import { startCommand } from '../command-process.ts';
import { startService } from '../service-process.ts';

// Rotates a vault of many records while it is read and written as the service does, and kills the rotation
// repeatedly. Every read must succeed meanwhile. Afterwards every record must decrypt to the value
// stored last, and none may be under an older key.

const addOrganizations = statement<{ count: number }, { id: string }>(
  'drill-add-organizations',
  sql`
    WITH named AS (SELECT gen_random_uuid()::text AS name FROM generate_series(1, ${'count'}::integer))
    INSERT INTO organizations (name, name_key) SELECT name, name FROM named RETURNING id`,
);
const addProviders = statement<{ count: number }>(
  'drill-add-providers',
  sql`
    WITH p AS (INSERT INTO providers (name, protocol)
               SELECT 'drill-' || n, 'openai' FROM generate_series(1, ${'count'}::integer) AS n RETURNING name)
    INSERT INTO provider_credentials (provider, name, position, api_key_env) SELECT name, 'default', 0, 'A_KEY' FROM p`,
);
const addRecords = statement<{
  organizationIds: readonly string[];
  providers: readonly string[];
  versions: readonly bigint[];
  sealedKeys: readonly Uint8Array[];
  wrappedKeys: readonly Uint8Array[];
  masterKeyIds: readonly string[];
}>(
  'drill-add-records',
  sql`
    INSERT INTO vault_keys (organization_id, provider, version, sealed_key, wrapped_key, master_key_id)
    SELECT * FROM unnest(${'organizationIds'}::uuid[], ${'providers'}::text[], ${'versions'}::bigint[],
                         ${'sealedKeys'}::bytea[], ${'wrappedKeys'}::bytea[], ${'masterKeyIds'}::text[])`,
);
const recordColumns = sql`organization_id, provider, version, sealed_key, wrapped_key, master_key_id`;
const findRecord = statement<{ organizationId: string; provider: string }, SealedRecord>(
  'drill-find-record',
  sql`SELECT ${recordColumns} FROM vault_keys
      WHERE organization_id = ${'organizationId'} AND provider = ${'provider'}`,
);
const listRecords = statement<{ organizationIds: readonly string[] }, SealedRecord>(
  'drill-list-records',
  sql`SELECT ${recordColumns} FROM vault_keys WHERE organization_id = ANY (${'organizationIds'}::uuid[])`,
);
const listMasterKeys = statement<NoParameters, { id: string }>(
  'drill-list-master-keys',
  sql`SELECT id FROM vault_master_keys`,
);

/** A record and its value. */
interface Stored {
  readonly organizationId: string;
  readonly provider: string;
  secret: string;
}

const PROVIDERS = 5;
const BATCH = 1_000;

/** Reads the keys of an embedded installation as its processes do. */
async function keyRingOf(dataDir: string): Promise<KeyRing> {
  const reload = async () => {
    const texts = await Promise.all(
      ['master.key', 'master.key.new'].map((name) =>
        readFile(join(dataDir, name), 'utf8').catch((error: NodeJS.ErrnoException) => {
          assert.equal(error.code, 'ENOENT');
          return undefined;
        }),
      ),
    );
    return texts
      .filter((text) => text !== undefined)
      .map((text) => MasterKey.fromText(text) ?? assert.fail('a key file holds something else'));
  };
  let nowMs = 0;
  return createKeyRing({
    keys: await reload(),
    reload,
    onError: (error) => assert.fail(String(error)),
    // The load reads them every time, so that the timing does not matter.
    monotonicMs: () => {
      nowMs += 60_000;
      return nowMs;
    },
  });
}

/** Fills the vault with this many records, one per provider in each organisation. */
async function fillVault(database: Database, masterKey: MasterKey, records: number): Promise<Stored[]> {
  await database.run(addProviders, { count: PROVIDERS });
  const organizations = await database.many(addOrganizations, { count: Math.ceil(records / PROVIDERS) });
  const all = organizations
    .flatMap(({ id }) =>
      Array.from({ length: PROVIDERS }, (_, n) => ({ organizationId: id, provider: `drill-${n + 1}` })),
    )
    .slice(0, records)
    .map((place, index) => ({ ...place, secret: `sk-${index}` }));
  for (let start = 0; start < all.length; start += BATCH) {
    const sealed = all
      .slice(start, start + BATCH)
      .map((stored, index) =>
        sealRecord(masterKey, { ...stored, version: BigInt(start + index + 1) }, stored.secret),
      );
    await database.run(addRecords, {
      organizationIds: sealed.map(({ organizationId }) => organizationId),
      providers: sealed.map(({ provider }) => provider),
      versions: sealed.map(({ version }) => version),
      sealedKeys: sealed.map(({ sealedKey }) => sealedKey),
      wrappedKeys: sealed.map(({ wrappedKey }) => wrappedKey),
      masterKeyIds: sealed.map(({ masterKeyId }) => masterKeyId),
    });
  }
  return all;
}

/** Reads records as gateways do until stopped. Each must decrypt to the stored value. */
async function readUntil(
  signal: AbortSignal,
  database: Database,
  keyRing: KeyRing,
  stored: readonly Stored[],
): Promise<number> {
  let readings = 0;
  while (!signal.aborted) {
    const one = stored[randomInt(stored.length)] ?? assert.fail();
    const record = await database.one(findRecord, {
      organizationId: one.organizationId,
      provider: one.provider,
    });
    assert.ok(record, 'a record is gone');
    assert.equal(await open(keyRing, record), one.secret);
    readings += 1;
  }
  return readings;
}

/** The secret of a record, under any key. */
async function open(keyRing: KeyRing, record: SealedRecord): Promise<string> {
  const key = await keyRing.find(record.masterKeyId);
  assert.ok(key, `nobody has the master key ${record.masterKeyId}`);
  return openRecord(key, record);
}

/** The outcome of the rotations. */
interface Kills {
  /** Rotations that ended before they were killed. */
  readonly finished: number;
  /** Kills after which records were under two keys. */
  readonly midway: number;
}

/**
 * Runs the rotation command and kills it, several times; then lets it finish. Every other
 * time the kill follows its progress output, in the middle of the work, otherwise a random delay.
 */
async function rotateUnderKills(database: Database, dataDir: string, kills: number): Promise<Kills> {
  let finished = 0;
  let midway = 0;
  const environment = { DATA_DIR: dataDir };
  for (let round = 0; round < kills; ) {
    const { child, outcome } = startCommand(['vault', 'rotate'], { environment });
    const moment = round % 2 === 0 ? linesOf(child, randomInt(1, 5)) : delay(randomInt(200, 2_500));
    const ended = await Promise.race([outcome, moment]);
    if (typeof ended === 'object') {
      assert.deepEqual([ended.code, ended.stderr], [0, '']);
      finished += 1;
      continue;
    }
    child.kill('SIGKILL');
    await outcome;
    if ((await database.many(listMasterKeys)).length === 2) midway += 1;
    round += 1;
  }
  const { code, stdout, stderr } = await startCommand(['vault', 'rotate', '--json'], { environment }).outcome;
  assert.deepEqual([code, stderr], [0, '']);
  assert.deepEqual((JSON.parse(stdout) as { left_behind: unknown[] }).left_behind, []);
  return { finished, midway };
}

/** Resolves after this many lines of output. */
function linesOf({ stdout }: ChildProcess, lines: number): Promise<undefined> {
  return new Promise((resolve) => {
    let said = 0;
    stdout?.on('data', (chunk: Buffer) => {
      said += chunk.toString().split('\n').length - 1;
      if (said >= lines) resolve(undefined);
    });
  });
}

/** Throws unless every record decrypts to the value stored last, and only one master key is listed and on disk. */
async function checkVault(database: Database, dataDir: string, stored: readonly Stored[]): Promise<void> {
  const text = await readFile(join(dataDir, 'master.key'), 'utf8');
  const masterKey = MasterKey.fromText(text) ?? assert.fail('master.key holds no key');
  await assert.rejects(readFile(join(dataDir, 'master.key.new')), { code: 'ENOENT' });
  assert.deepEqual(await database.many(listMasterKeys), [{ id: masterKey.id }]);
  const organizations = [...new Set(stored.map(({ organizationId }) => organizationId))];
  const found = new Map<string, string>();
  for (let start = 0; start < organizations.length; start += BATCH) {
    const organizationIds = organizations.slice(start, start + BATCH);
    for (const record of await database.many(listRecords, { organizationIds })) {
      assert.equal(record.masterKeyId, masterKey.id, 'a record is under an old key');
      found.set(`${record.organizationId} ${record.provider}`, openRecord(masterKey, record));
    }
  }
  assert.equal(found.size, stored.length);
  for (const { organizationId, provider, secret } of stored)
    assert.equal(found.get(`${organizationId} ${provider}`), secret);
}

/** A member who stores, replaces and removes keys over HTTP until stopped, and remembers the last value. */
async function changeUntil(signal: AbortSignal, port: number, stored: Stored[]): Promise<number> {
  const client = new ApiClient(port);
  const account = { email: `${randomUUID()}@example.com`, password: 'correct horse battery staple' };
  const { organization } = await client.call(auth.register, {
    body: { ...account, organization_name: `Org ${randomUUID()}` },
  });
  await client.call(auth.login, { body: account });
  const own = Array.from({ length: PROVIDERS }, (_, n) => ({
    organizationId: organization.id,
    provider: `drill-${n + 1}`,
    secret: '',
  }));
  let changes = 0;
  // At least once: rotations can be over before the member is registered.
  do {
    for (const one of own) {
      const { provider } = one;
      one.secret = `sk-change-${changes}`;
      await client.call(vault.setVaultKey, { body: { provider, api_key: one.secret } });
      if (changes % 7 === 0) {
        await client.call(vault.revokeVaultKey, { params: { provider } });
        await client.call(vault.setVaultKey, { body: { provider, api_key: one.secret } });
      }
      changes += 1;
    }
  } while (!signal.aborted);
  stored.push(...own);
  return changes;
}

const READERS = 2;
const WRITERS = 2;

/** The whole drill, on an installation of its own. Returns its statistics once every check has passed. */
export async function rotationDrill(
  records: number,
  kills: number,
): Promise<Kills & { readings: number; writings: number }> {
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-rotation-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const dataDir = join(directory, 'data');
  const service = stack.use(await startService({ DATA_DIR: dataDir, LOG_LEVEL: 'info' }));
  const server = stack.use(await openEmbeddedPostgres({ dataDir }));
  const database = stack.use(openDatabase(server.connection, { poolSize: READERS + 1 }));
  const first = MasterKey.fromText(await readFile(join(dataDir, 'master.key'), 'utf8'));
  assert.ok(first, 'the start made no master key');
  const filled = await fillVault(database, first, records);

  const stop = new AbortController();
  const changed: Stored[] = [];
  const keyRing = await keyRingOf(dataDir);
  const readers = Array.from({ length: READERS }, () => readUntil(stop.signal, database, keyRing, filled));
  const writers = Array.from({ length: WRITERS }, () => changeUntil(stop.signal, service.apiPort, changed));
  const load = Promise.all([Promise.all(readers), Promise.all(writers)]);
  const failed = load.then(() => new Promise<never>(() => undefined));
  try {
    const rotations = await Promise.race([rotateUnderKills(database, dataDir, kills), failed]);
    stop.abort();
    const [readings, writings] = await load;
    await checkVault(database, dataDir, [...filled, ...changed]);
    const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
    return { readings: sum(readings), writings: sum(writings), ...rotations };
  } finally {
    stop.abort();
    await load.catch(() => undefined);
  }
}
