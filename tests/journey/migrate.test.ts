import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openEmbeddedClickHouse, openEmbeddedPostgres } from '@gatehouse/embedded';
import { createTelemetryClient, type Database, openDatabase } from '@gatehouse/store';
import { rawSql, runSql, testServers } from '@gatehouse/store/testing';
import { jsonOf, runCommand } from '../command-process.ts';
import { startService } from '../service-process.ts';

// `gatehouse migrate` as a process: beside a running service, with the service stopped, and on an external database.

interface Migrations {
  readonly due: readonly string[];
  readonly applied: readonly string[];
}
interface Answer {
  readonly up_to_date: boolean;
  readonly postgresql: Migrations;
  readonly clickhouse: Migrations;
}

const UP_TO_DATE = 'PostgreSQL  up to date\nClickHouse  up to date\n';

async function run(database: Database, text: string): Promise<void> {
  await runSql(database)`${rawSql(text)}`;
}

describe('gatehouse migrate on the embedded stores', () => {
  const stack = new AsyncDisposableStack();
  let dataDir: string;
  before(async () => {
    dataDir = stack.adopt(await mkdtemp(join(tmpdir(), 'gatehouse-migrate-')), (path) =>
      rm(path, { recursive: true, force: true }),
    );
  });
  after(() => stack.disposeAsync());

  const migrate = (...options: string[]) =>
    runCommand(['migrate', ...options], { environment: { DATA_DIR: dataDir } });

  /** Makes the last function, the grants and the last ClickHouse migration due again. All can be applied twice. */
  async function makeDue(): Promise<void> {
    await using postgres = await openEmbeddedPostgres({ dataDir });
    await using database = openDatabase(postgres.connection, { poolSize: 1 });
    await run(database, `UPDATE schema_files SET checksum = 'old' WHERE path = 'grants.sql'`);
    await using engine = await openEmbeddedClickHouse({ dataDir });
    await using client = createTelemetryClient(engine);
    await client.command({
      query: `ALTER TABLE schema_migrations DELETE WHERE version = (SELECT max(version) FROM schema_migrations)
        SETTINGS mutations_sync = 2`,
    });
  }

  it('needs a database that a start has created', async () => {
    const { code, stdout, stderr } = await migrate('--check');
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^gatehouse: there is no database in [^\n]+\n$/);
  });

  it('finds nothing due beside a running service', async () => {
    await using _ = await startService({ DATA_DIR: dataDir });
    for (const options of [['--check'], []]) {
      const { code, stdout, stderr } = await migrate(...options);
      assert.deepEqual([code, stdout, stderr], [0, UP_TO_DATE, '']);
    }
  });

  it('says what is due with --check, changes nothing and exits 1; then applies it', async () => {
    await makeDue();
    for (const time of [1, 2]) {
      const { code, stdout, stderr } = await migrate('--check');
      assert.deepEqual([code, stderr], [1, ''], `check ${time}`);
      assert.match(stdout, /^PostgreSQL {2}due grants\.sql\nClickHouse {2}due \d{4}-[a-z-]+\n$/);
    }
    const { code, stdout, stderr } = await migrate();
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^PostgreSQL {2}applied grants\.sql\nClickHouse {2}applied \d{4}-[a-z-]+\n$/);
    assert.equal((await migrate('--check')).stdout, UP_TO_DATE);
  });
});

describe('gatehouse migrate on an external database', () => {
  const stack = new AsyncDisposableStack();
  let environment: Record<string, string>;
  before(async () => {
    const { postgres } = await testServers();
    const name = `test_${randomUUID().replaceAll('-', '')}`;
    const admin = stack.use(openDatabase({ ...postgres, database: 'postgres' }, { poolSize: 1 }));
    await run(admin, `CREATE DATABASE ${name}`);
    stack.defer(() => run(admin, `DROP DATABASE ${name} WITH (FORCE)`));
    const directory = stack.adopt(await mkdtemp(join(tmpdir(), 'gatehouse-migrate-')), (path) =>
      rm(path, { recursive: true, force: true }),
    );
    const { host, port, user } = postgres;
    environment = {
      DATABASE_URL: `postgresql:///${name}?host=${encodeURIComponent(host)}&port=${port}&user=${user}`,
      DATA_DIR: join(directory, 'data'),
    };
  });
  after(() => stack.disposeAsync());

  it('changes neither store when one of them cannot be used', async () => {
    const unreachable = { ...environment, CLICKHOUSE_URL: 'http://127.0.0.1:1' };
    const { code, stdout, stderr } = await runCommand(['migrate'], { environment: unreachable });
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^gatehouse: ClickHouse cannot be used: [^\n]*ECONNREFUSED[^\n]*\n$/);
    const check = await runCommand(['migrate', '--check', '--json'], { environment });
    assert.equal(check.code, 1);
    const { up_to_date: isUpToDate, postgresql, clickhouse } = JSON.parse(check.stdout) as Answer;
    assert.deepEqual([isUpToDate, postgresql.applied, clickhouse.applied], [false, [], []]);
    assert.equal(postgresql.due[0]?.slice(0, 5), '0001-');
    assert.equal(postgresql.due.at(-1), 'grants.sql');
    assert.equal(clickhouse.due[0]?.slice(0, 5), '0001-');
  });

  it('migrates empty stores, and finds nothing due afterwards', async () => {
    const first = (await jsonOf(['migrate'], { environment })) as unknown as Answer;
    for (const store of [first.postgresql, first.clickhouse]) {
      assert.ok(store.due.length > 0);
      assert.deepEqual(store.applied, store.due);
    }
    assert.deepEqual(await jsonOf(['migrate', '--check'], { environment }), {
      up_to_date: true,
      postgresql: { due: [], applied: [] },
      clickhouse: { due: [], applied: [] },
    });
  });
});
