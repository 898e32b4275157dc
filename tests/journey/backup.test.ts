import assert from 'node:assert/strict';
import { copyFile, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { auth, keys, organization, vault } from '@gatehouse/contract';
import { ApiClient } from '@gatehouse/control-plane/testing';
import { openEmbeddedClickHouse, openEmbeddedPostgres } from '@gatehouse/embedded';
import { createTelemetryClient, type NoParameters, openDatabase, sql, statement } from '@gatehouse/store';
import { jsonOf, runCommand, startCommand } from '../command-process.ts';
import { eventually, type ServiceProcess, startService } from '../service-process.ts';

// A service is backed up under load and then killed. The restored data must be consistent, request by request, and contain
// everything that was acknowledged before the backup began.

const ACCOUNT = { email: 'ada@example.com', password: 'correct horse battery staple' };
const PROVIDER_KEY = 'sk-upstream-0123456789abcdefghijklmn';
const CALLERS = 4;

const listSettlements = statement<NoParameters, { id: string; cost: bigint }>(
  'test-list-settlements',
  sql`SELECT request_id::text AS id, cost_micro_pkr AS cost FROM settlements WHERE cost_micro_pkr > 0`,
);

async function complete(port: number, secret: string): Promise<{ status: number; id: string }> {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo/echo', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  await answer.text();
  return { status: answer.status, id: answer.headers.get('x-request-id') ?? '' };
}

async function signIn(port: number): Promise<ApiClient> {
  const client = new ApiClient(port);
  await client.call(auth.login, { body: ACCOUNT });
  return client;
}

/** Callers that send one request after the other until stopped. */
function startTraffic(port: number, secret: string) {
  const acknowledged: string[] = [];
  let isStopped = false;
  const callers = Array.from({ length: CALLERS }, async () => {
    while (!isStopped) {
      const { status, id } = await complete(port, secret);
      assert.ok(status === 200 || status === 429, `${status}`);
      if (status === 200) acknowledged.push(id);
    }
  });
  return {
    acknowledged,
    async stop() {
      isStopped = true;
      await Promise.all(callers);
    },
  };
}

interface Logged {
  readonly id: string;
  readonly times: string;
  readonly cost: string;
}

/** The contents of a running service's stores, beyond what an API shows. */
async function openStores(dataDir: string) {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await openEmbeddedPostgres({ dataDir }));
  const engine = stack.use(await openEmbeddedClickHouse({ dataDir }));
  const database = stack.use(openDatabase(server.connection));
  const telemetry = createTelemetryClient(engine);
  stack.defer(() => telemetry.close());
  const ask = async <Row>(query: string) =>
    (await telemetry.query({ query, format: 'JSONEachRow' })).json<Row>();
  const kept = stack.move();
  return {
    /** Cost in micro-PKR, by request. Throws when a request occurs twice. */
    async requestLog() {
      const rows = await ask<Logged>(
        'SELECT request_id AS id, count() AS times, any(cost_micro_pkr) AS cost FROM request_log GROUP BY id',
      );
      assert.deepEqual(
        rows.filter(({ times }) => times !== '1'),
        [],
      );
      return new Map(rows.map(({ id, cost }) => [id, BigInt(cost)]));
    },
    async settlements() {
      const rows = await database.many(listSettlements);
      return new Map(rows.map(({ id, cost }) => [id, cost]));
    },
    /** Times of the keys' last use: from the log, and from key_last_used. */
    async lastUses() {
      const uses = (table: string, time: string) =>
        ask<{ key: string; last: string }>(
          `SELECT key_id AS key, max(${time}) AS last FROM ${table} GROUP BY key ORDER BY key`,
        );
      return [await uses('request_log', 'timestamp'), await uses('key_last_used', 'last_used_at')];
    },
    /** Numbers of requests: from the rows, and from the hourly rollup. */
    async requests() {
      const sum = async (settings: string) => {
        const [found] = await ask<{ n: string }>(
          `SELECT sum(n) AS n FROM (SELECT toStartOfHour(timestamp) AS hour, count() AS n FROM request_log GROUP BY hour)
           SETTINGS ${settings}`,
        );
        return found?.n;
      };
      return [await sum('optimize_use_projections = 0'), await sum('force_optimize_projection = 1')];
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

describe('backup and restore', () => {
  const stack = new AsyncDisposableStack();
  let directory: string;
  let backup: string;
  let revokedFile: string;
  let early: readonly string[];
  let lasting: string;
  let revokedBefore: string;
  let revokedAfter: string;
  const at = (name: string) => join(directory, name);

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-backup-'));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    backup = at('backup');
    revokedFile = at('revoked.json');
    const environment = { DATA_DIR: at('data') };
    const service = stack.use(await startService(environment));
    const client = new ApiClient(service.apiPort);
    await client.call(auth.register, { body: { ...ACCOUNT, organization_name: 'Acme' } });
    await client.call(auth.login, { body: ACCOUNT });
    await client.call(vault.setVaultKey, { body: { provider: 'openai', api_key: PROVIDER_KEY } });
    const project = (await client.call(organization.listProjects)).projects[0]?.id;
    const mint = (name: string) => client.call(keys.createKey, { body: { project_id: project, name } });
    const minted = [await mint('lasting'), await mint('revoked before'), await mint('revoked after')];
    [lasting, revokedBefore, revokedAfter] = minted.map((one) => one.api_key) as [string, string, string];
    await client.call(keys.revokeKey, { params: { key_id: minted[1]?.id ?? '' } });

    await client.call(keys.updateKey, {
      params: { key_id: minted[0]?.id ?? '' },
      body: { rate_limit_rpm: 6000 },
    });
    const traffic = startTraffic(service.gatewayPort, lasting);
    await eventually(async () => (traffic.acknowledged.length > 200 ? true : undefined));
    early = [...traffic.acknowledged];
    await jsonOf(['backup', backup], { environment });
    await client.call(keys.revokeKey, { params: { key_id: minted[2]?.id ?? '' } });
    await jsonOf(['backup', '--revoked-keys', revokedFile], { environment });
    await traffic.stop();
    assert.ok(traffic.acknowledged.length > early.length);
    assert.equal(await service.end('SIGKILL'), 'SIGKILL');
  });
  after(() => stack.disposeAsync());

  const withKey = async (name: string) => {
    await mkdir(at(name));
    await copyFile(at('data/master.key'), at(`${name}/master.key`));
    return { DATA_DIR: at(name) };
  };

  it('restores a service that is consistent, request by request', async () => {
    const environment = await withKey('restored');
    const restored = await jsonOf(['restore', backup, '--revoked-keys', revokedFile], { environment });
    assert.deepEqual(
      [restored['activity'], restored['ledger'], restored['vault']].map(
        (one) => (one as Record<string, unknown>)['verified'] ?? (one as Record<string, unknown>)['state'],
      ),
      [true, true, 'verified'],
    );
    assert.equal((restored['revoked_again'] as string[]).length, 1);
    assert.deepEqual((await readdir(at('restored'))).sort(), [
      'clickhouse',
      'journal',
      'master.key',
      'postgres',
    ]);

    await using service: ServiceProcess = await startService(environment);
    const client = await signIn(service.apiPort);
    const newest = await complete(service.gatewayPort, lasting);
    assert.equal(newest.status, 200);
    {
      await using stores = await openStores(at('restored'));
      await eventually(async () => {
        const names = await readdir(at('restored/journal'), { recursive: true });
        return names.some((name) => /\.(open|owes[-a-z]*)$/.test(name)) ? undefined : true;
      });
      const log = await stores.requestLog();
      const settled = await stores.settlements();
      assert.deepEqual(
        [newest.id, ...early].filter((id) => !log.has(id) || !settled.has(id)),
        [],
      );
      const costing = [...log].filter(([, cost]) => cost > 0n);
      assert.deepEqual(new Map(costing.toSorted()), new Map([...settled].toSorted()));
      await eventually(async () => {
        const [logged, known] = await stores.lastUses();
        return isDeepStrictEqual(known, logged) ? true : undefined;
      });
      const [rows, summed] = await stores.requests();
      assert.deepEqual([rows, summed], [String(log.size), String(log.size)]);
    }
    for (const secret of [revokedBefore, revokedAfter])
      assert.equal((await complete(service.gatewayPort, secret)).status, 401);
    assert.deepEqual(
      (await client.call(vault.listVaultKeys)).keys.map(({ provider }) => provider),
      ['openai'],
    );
    const verified = await jsonOf(['activity', 'verify'], { environment });
    assert.ok((verified['organizations'] as { verified: boolean }[]).every((one) => one.verified));
    assert.equal(await service.end('SIGTERM'), 0);
  });

  it('warns about what a backup cannot know, and restores without the master key', async () => {
    const environment = { DATA_DIR: at('without/key') };
    const { code, stdout, stderr } = await runCommand(['restore', backup], { environment });
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(
      stdout,
      /^Vault: not verified \(no master key was given: put the one with the id [0-9a-f]{32} into/m,
    );
    assert.match(stdout, /^WARNING: every key that was revoked after 20\d\d-.* is VALID AGAIN/m);
    await copyFile(at('data/master.key'), at('without/key/master.key'));
    await using service = await startService(environment);
    assert.equal((await complete(service.gatewayPort, revokedAfter)).status, 200);
    assert.equal((await complete(service.gatewayPort, revokedBefore)).status, 401);
  });

  it('rejects another master key', async () => {
    const environment = {
      DATA_DIR: at('other-key'),
      GATEHOUSE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    };
    const { code, stderr } = await runCommand(['restore', backup], { environment });
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^gatehouse: the vault does not open: it needs the master key with the id [0-9a-f]{32}, and given is /,
    );
    // It may be the only copy, so it is restored.
    assert.ok((await readdir(at('other-key'))).includes('postgres'));
  });

  it('contains no master key', async () => {
    const manifest = JSON.parse(await readFile(join(backup, 'manifest.json'), 'utf8')) as {
      files: { path: string }[];
    };
    assert.deepEqual(
      manifest.files.filter(({ path }) => /key$/.test(path)),
      [],
    );
    const key = (await readFile(at('data/master.key'), 'utf8')).trim();
    for (const { path } of manifest.files)
      assert.ok(!(await readFile(join(backup, path))).includes(key), `${path} holds the master key`);
  });

  const refused = async (args: string[], environment: Record<string, string>, message: RegExp) => {
    const { code, stdout, stderr } = await runCommand(args, { environment });
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^gatehouse: [^\n]+\n$/);
    assert.match(stderr, message);
  };

  it('refuses a damaged backup, naming the file, and writes nothing', async () => {
    const damaged = at('damaged');
    const files = (await readdir(join(backup, 'postgres/global'))).filter((name) => /^\d+$/.test(name));
    const file = join('postgres/global', files[0] ?? '');
    const part = (await readdir(join(backup, 'clickhouse/request_log')))[0] ?? '';
    const environment = { DATA_DIR: at('never') };
    const damages: [string, () => Promise<void>, RegExp][] = [
      [file, () => flipOneBit(join(damaged, file)), /does not match its checksum/],
      ['manifest.json', () => flipOneBit(join(damaged, 'manifest.json')), /does not match its checksum/],
      ['backup_label', () => rm(join(damaged, 'postgres/backup_label')), /is missing/],
      [
        part,
        () => writeFile(join(damaged, `clickhouse/request_log/${part}/count.txt`), '1234567'),
        /bytes and should have/,
      ],
      ['manifest.json', () => rm(join(damaged, 'manifest.json')), /is not a complete backup/],
    ];
    for (const [name, damage, message] of damages) {
      await cp(backup, damaged, { recursive: true });
      await damage();
      await refused(
        ['restore', damaged],
        environment,
        new RegExp(`${name}.*${message.source}|${message.source}.*${name}`),
      );
      await rm(damaged, { recursive: true });
      assert.ok(!(await readdir(directory)).includes('never'));
    }
  });

  it('refuses directories that are not empty, and files of the wrong kind', async () => {
    const environment = { DATA_DIR: at('data') };
    await refused(['backup', backup], environment, /is not empty; name one that is empty or new/);
    await refused(
      ['restore', backup],
      environment,
      /holds "[^"]+"; a backup is restored into a directory that is empty/,
    );
    await refused(
      ['restore', at('nothing')],
      { DATA_DIR: at('never') },
      /is not a complete backup: it has no manifest/,
    );
    await refused(
      ['restore', backup, '--revoked-keys', join(backup, 'manifest.json')],
      { DATA_DIR: at('never') },
      /is not a file that gatehouse backup --revoked-keys wrote/,
    );
    assert.ok(!(await readdir(directory)).includes('never'));
  });

  it('refuses external stores, naming their backup tools', async () => {
    const external = { DATABASE_URL: 'postgres://127.0.0.1:1/x', CLICKHOUSE_URL: 'http://127.0.0.1:1' };
    for (const args of [
      ['backup', at('other')],
      ['restore', backup],
    ])
      await refused(
        args,
        external,
        /DATABASE_URL and CLICKHOUSE_URL are set: use pg_dump and ClickHouse's BACKUP, as docs\/backup\.md/,
      );
  });

  it('leaves nothing behind when it is interrupted', async () => {
    const environment = { DATA_DIR: at('restored') };
    const { child, outcome } = startCommand(['backup', at('cut-short')], { environment });
    await eventually(async () =>
      (await readdir(directory)).some((name) => name.startsWith('cut-short.unfinished-')) ? true : undefined,
    );
    child.kill('SIGKILL');
    await outcome;
    assert.ok(!(await readdir(directory)).includes('cut-short'));
    await jsonOf(['backup', at('cut-short')], { environment });
  });
});

async function flipOneBit(path: string): Promise<void> {
  const content = await readFile(path);
  const middle = Math.floor(content.length / 2);
  content[middle] = (content[middle] ?? 0) ^ 1;
  await writeFile(path, content);
}
