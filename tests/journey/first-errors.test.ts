import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startPostgresProxy } from '@gatehouse/gateway/testing';
import { createCertificate, freePort } from '@gatehouse/http/testing';
import { openDatabase } from '@gatehouse/store';
import { createTestDatabase, rawSql, runSql, type TestDatabase } from '@gatehouse/store/testing';
import { runCommand } from '../command-process.ts';
import { findPrograms } from '../drills/stores/postgres-pair.ts';
import { startPostgresProgram } from '../postgres-program.ts';

// What an operator sees who has set one thing wrong: one line, with the setting, the server, the reason and what to do.

const SECRET = 'hunter2hunter2';
const programs = await findPrograms();

describe('the first errors', () => {
  const stack = new AsyncDisposableStack();
  let directory: string;
  let test: TestDatabase;
  before(async () => {
    directory = stack.adopt(await mkdtemp(join(tmpdir(), 'gatehouse-errors-')), (path) =>
      rm(path, { recursive: true, force: true }),
    );
    await chmod(directory, 0o755);
    test = stack.use(await createTestDatabase());
  });
  after(() => stack.disposeAsync());

  const CHOSEN = {
    JOIN_POLICY: 'closed',
    START_TIMEOUT: '0',
    GATEHOUSE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    CLICKHOUSE_URL: 'http://127.0.0.1:1',
  };
  const run = (command: string[], more: Record<string, string>) =>
    runCommand(command, {
      environment: { PORT: '0', GATEWAY_PORT: '0', DATA_DIR: join(directory, 'data'), ...CHOSEN, ...more },
    });
  /** The line that ends the start; that of a command is the same. */
  const refused = async (more: Record<string, string>, expected: RegExp) => {
    for (const command of ['start', 'doctor']) {
      const { code, stderr } = await run([command], more);
      const lines = stderr
        .split('\n')
        .filter((line) => line !== '' && !/^(Starting|Building|The dashboard)/.test(line));
      assert.deepEqual([code, lines.length], [1, 1], stderr);
      assert.match(lines[0] ?? '', expected);
      assert.ok(!stderr.includes(SECRET), stderr);
    }
  };
  const proxy = async (certificate?: Parameters<typeof startPostgresProxy>[1]) => {
    const { address } = stack.use(await startPostgresProxy(test.address, certificate));
    if (!('host' in address)) throw new Error('expected the parts of an address');
    return `postgres://${address.user}:${SECRET}@127.0.0.1:${address.port}`;
  };

  it('of PostgreSQL: nothing there, an unknown host, no PostgreSQL, no such database', async () => {
    const url = `postgres://u:${SECRET}@127.0.0.1:${await freePort()}/x`;
    await refused(
      { DATABASE_URL: url },
      /^gatehouse: PostgreSQL .*\(DATABASE_URL is "postgres:\/\/…@127\.0\.0\.1:\d+\/x": nothing listens there; start PostgreSQL, or correct the host and the port \(connect ECONNREFUSED [^)]+\)\)$/,
    );
    await refused(
      { DATABASE_URL: `postgres://u:${SECRET}@db.invalid/x` },
      /\(DATABASE_URL is "postgres:\/\/…@db\.invalid\/x": its host name is not known; correct the name, /,
    );
    const http = createHttpServer((_, response) => response.end()).listen(0, '127.0.0.1');
    await once(http, 'listening');
    stack.defer(() => void http.close());
    const { port } = http.address() as AddressInfo;
    for (const mode of ['', '?sslmode=require'])
      await refused(
        { DATABASE_URL: `postgres://u:${SECRET}@127.0.0.1:${port}/x${mode}` },
        /\(DATABASE_URL is "[^"]+": (it ended the connection; if it goes on, )?what listens there is not PostgreSQL/,
      );
    await refused(
      { DATABASE_URL: `${await proxy()}/none` },
      /^gatehouse: DATABASE_URL is "postgres:\/\/…@127\.0\.0\.1:\d+\/none": it has no such database; create it \(CREATE DATABASE … OWNER …\), or correct the name \(database "none" does not exist\)$/,
    );
    await refused(
      { DATABASE_URL: `${await proxy()}/none`, DATABASE_OWNER_URL: url },
      /\(DATABASE_OWNER_URL is "[^"]+": nothing listens there/,
    );
  });

  it('of TLS to PostgreSQL: none there, an unknown authority, another host', async () => {
    const named = (certificate: ReturnType<typeof createCertificate>, name: string) =>
      writeFile(join(directory, name), certificate.cert).then(() => join(directory, name));
    const own = createCertificate({ names: ['127.0.0.1'] });
    const elsewhere = createCertificate({ names: ['db.example.com'] });
    await refused(
      { DATABASE_URL: `${await proxy()}/x?sslmode=require` },
      /\(DATABASE_URL is "[^"]+": it has no TLS, which the address asks for; set ssl = on in PostgreSQL, or sslmode=disable .* \(The server does not support SSL connections\)\)$/,
    );
    await refused(
      { DATABASE_URL: `${await proxy(own)}/x?sslmode=verify-full` },
      /\(DATABASE_URL is "[^"]+": its certificate is of an unknown authority; add sslrootcert=FILE /,
    );
    await refused(
      {
        DATABASE_URL: `${await proxy(elsewhere)}/x?sslmode=verify-full&sslrootcert=${await named(elsewhere, 'ca.pem')}`,
      },
      /\(DATABASE_URL is "[^"]+": its certificate is for another host; use the name in the certificate, or sslmode=verify-ca /,
    );
  });

  it('of a login: the password, the admission, the right to connect', {
    skip: programs === undefined && 'the PostgreSQL of Debian is not installed',
  }, async () => {
    if (programs === undefined) return;
    const hba = join(directory, 'pg_hba.conf');
    await writeFile(
      hba,
      'host all gatehouse all trust\nhost all secret all scram-sha-256\nhostssl all encrypted all trust\nhost all outside all trust\n',
    );
    const server = stack.use(
      await startPostgresProgram({
        programs,
        data: join(directory, 'server'),
        host: '127.0.0.1',
        port: await freePort(),
        settings: { hba_file: hba },
      }),
    );
    const administrator = stack.use(openDatabase({ url: server.url }, { poolSize: 1 }));
    for (const statement of [
      `CREATE ROLE secret LOGIN PASSWORD 'another'`,
      'CREATE ROLE encrypted LOGIN',
      'CREATE ROLE outside LOGIN',
      'CREATE DATABASE closed',
      'REVOKE CONNECT ON DATABASE closed FROM PUBLIC',
    ])
      await runSql(administrator)`${rawSql(statement)}`;
    const url = (user: string, database = 'postgres') =>
      `${server.url.replace('gatehouse@', `${user}:${SECRET}@`).replace(/postgres$/, database)}`;
    const about = String.raw`^gatehouse: DATABASE_URL is "postgres://…@127\.0\.0\.1:\d+/\w+": `;
    for (const [address, expected] of [
      [
        url('secret'),
        'it does not accept the user or the password; correct them, .* \\(password authentication',
      ],
      [
        url('encrypted'),
        'it does not admit this login from here; correct the user, .* \\(no pg_hba.conf entry',
      ],
      [url('nobody'), 'it does not admit this login from here; correct the user, '],
      [url('outside', 'closed'), 'this login may not connect to the database; GRANT CONNECT ON DATABASE '],
    ] as const)
      await refused({ DATABASE_URL: address }, new RegExp(about + expected));
  });

  it('of the master key: before PostgreSQL is migrated', async () => {
    const { host, port, user } = test.address;
    const name = `${test.address.database}_new`;
    await runSql(test.owner)`${rawSql(`CREATE DATABASE ${name}`)}`;
    stack.defer(async () => void (await runSql(test.owner)`${rawSql(`DROP DATABASE ${name} WITH (FORCE)`)}`));
    const DATABASE_URL = `postgresql:///${name}?host=${encodeURIComponent(host)}&port=${port}&user=${user}`;
    for (const [source, expected] of [
      [
        { GATEHOUSE_MASTER_KEY_FILE: '/none/key' },
        'GATEHOUSE_MASTER_KEY_FILE is "/none/key", which is not there',
      ],
      [
        { GATEHOUSE_MASTER_KEY_COMMAND: '/none/command' },
        'the command in GATEHOUSE_MASTER_KEY_COMMAND could not be run (ENOENT)',
      ],
    ] as const) {
      const { code, stderr } = await run(['start'], { DATABASE_URL, GATEHOUSE_MASTER_KEY: '', ...source });
      assert.deepEqual([code, stderr.split('\n').at(-2)], [1, `gatehouse: ${expected}`]);
      const check = await run(['doctor'], { DATABASE_URL });
      assert.match(check.stderr, /the database's schema is at step 0 /);
    }
  });

  it('of the database of ClickHouse: its name', async () => {
    const expected = (name: string) =>
      `gatehouse: ${name} is "http://…@clickhouse:8123/my-logs", whose database "my-logs" cannot be used, expected a name of letters, digits and _, at most 63, that does not start with a digit; name another database, which is created where it is missing\n`;
    const url = `http://user:${SECRET}@clickhouse:8123/my-logs`;
    for (const command of ['start', 'migrate']) {
      const { code, stderr } = await run([command], { CLICKHOUSE_URL: url });
      assert.deepEqual([code, stderr], [1, expected('CLICKHOUSE_URL')]);
    }
  });

  it('of an installation without the embedded engine: the setting that takes its place', async () => {
    const copy = join(directory, 'pruned');
    const root = join(import.meta.dirname, '../..');
    await cp(join(root, 'embedded'), join(copy, 'embedded'), { recursive: true });
    await mkdir(join(copy, 'node_modules/@gatehouse'), { recursive: true });
    for (const workspace of ['store', 'concurrency'])
      await symlink(join(root, workspace), join(copy, 'node_modules/@gatehouse', workspace));
    const opening = `import { openEmbeddedClickHouse } from ${JSON.stringify(join(copy, 'embedded/src/clickhouse/index.ts'))};
      await openEmbeddedClickHouse({ dataDir: ${JSON.stringify(join(copy, 'data'))} }).catch(({ name, message }) => console.log(name + ': ' + message));`;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', opening], {
      encoding: 'utf8',
      timeout: 20_000,
    });
    assert.equal(
      stdout,
      'EmbeddedClickHouseError: the embedded ClickHouse engine cannot run here: the package chdb is not installed; set CLICKHOUSE_URL to use a ClickHouse server\n',
    );
  });

  it('of ClickHouse: the row of the start names the setting and the server', async () => {
    const { stderr } = await run(['migrate'], {
      DATABASE_URL: `${await proxy()}/${test.address.database}`,
      CLICKHOUSE_URL: `http://user:${SECRET}@127.0.0.1:1/x`,
    });
    assert.match(
      stderr,
      /^gatehouse: ClickHouse cannot be used: CLICKHOUSE_URL is "http:\/\/…@127\.0\.0\.1:1\/x": nothing listens there; start ClickHouse, or correct the host and the port \(connect ECONNREFUSED 127\.0\.0\.1:1\)\n$/,
    );
    assert.ok(!stderr.includes(SECRET));
  });
});
