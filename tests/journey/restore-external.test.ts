import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { freePort } from '@gatehouse/http/testing';
import { type Database, migratePostgres, openDatabase } from '@gatehouse/store';
import { rawSql, runSql } from '@gatehouse/store/testing';
import { runCommand } from '../command-process.ts';
import { findPrograms } from '../drills/stores/postgres-pair.ts';
import { startPostgresProgram } from '../postgres-program.ts';

// The blocks of docs/backup.md for an external PostgreSQL, run in their order: the dump from one database, and the restore
// into one of another server, whose owner has another name and is no superuser.

const run = promisify(execFile);
const programs = await findPrograms();
const OWNER = 'restored';

async function documentedBlocks(): Promise<string[]> {
  const page = await readFile(join(import.meta.dirname, '../../docs/backup.md'), 'utf8');
  const section = page.slice(page.indexOf('\n## External stores'));
  return [...section.matchAll(/^ *```(?:bash|sql)\n([\s\S]*?)^ *```$/gm)].map(([, text = '']) => text.trim());
}

describe('the documented restore of an external PostgreSQL', {
  skip: programs === undefined && 'the PostgreSQL of Debian is not installed',
}, () => {
  it('ends without an error and with every owner and right of the schema', async () => {
    if (programs === undefined) return;
    await using stack = new AsyncDisposableStack();
    const directory = stack.adopt(await mkdtemp(join(tmpdir(), 'gatehouse-restore-')), (path) =>
      rm(path, { recursive: true, force: true }),
    );
    await chmod(directory, 0o755);
    const start = async (name: string) =>
      stack.use(
        await startPostgresProgram({
          programs,
          data: join(directory, name),
          host: '127.0.0.1',
          port: await freePort(),
        }),
      );
    const [source, target] = [await start('source'), await start('target')];
    const open = (url: string) => stack.use(openDatabase({ url }, { poolSize: 1 }));
    const execute = (database: Database, text: string) => runSql<{ name: string }>(database)`${rawSql(text)}`;

    const sourceOwner = open(source.url);
    await migratePostgres(sourceOwner);
    await execute(
      sourceOwner,
      `WITH o AS (INSERT INTO organizations (name, name_key) VALUES ('Acme', 'acme') RETURNING id),
            b AS (INSERT INTO balances (organization_id) SELECT id FROM o)
       INSERT INTO activity_heads (organization_id) SELECT id FROM o`,
    );
    await execute(
      sourceOwner,
      `SELECT append_activity(id, NULL, 'organization.created', 'Acme', '127.0.0.1') FROM organizations`,
    );

    const [dump = '', roles = '', restore = '', ...others] = await documentedBlocks();
    assert.equal(others.length, 0);
    const inShell = (text: string, ownerUrl: string) =>
      run('sh', ['-ec', text], {
        cwd: directory,
        env: { PATH: `${programs}:${process.env['PATH']}`, DATABASE_OWNER_URL: ownerUrl },
      });
    await inShell(dump, source.url);

    const administrator = open(target.url);
    for (const statement of roles.replaceAll(/\bgatehouse\b/g, OWNER).split('\n'))
      await execute(administrator, statement);
    const ownerUrl = target.url.replace(/gatehouse@(.*)\/postgres$/, `${OWNER}@$1/${OWNER}`);
    const [pgRestore = '', ...commands] = restore.split('\n');
    await inShell(pgRestore, ownerUrl);

    const environment = {
      DATABASE_URL: ownerUrl,
      DATABASE_OWNER_URL: ownerUrl,
      DATA_DIR: join(directory, 'data'),
    };
    const gatehouse = (...args: string[]) => runCommand(args, { environment });
    const owned = `owner of function purge_activity: ${OWNER}, not gatehouse_retention`;
    const due = await gatehouse('migrate', '--check');
    assert.equal(due.code, 1, due.stderr);
    assert.ok(due.stdout.includes(`PostgreSQL  due ${owned}\n`), due.stdout);
    const before = await gatehouse('doctor');
    assert.deepEqual(
      [before.code, before.stderr],
      [1, `gatehouse: ${owned}; gatehouse migrate restores it\n`],
    );

    assert.deepEqual(commands, ['gatehouse migrate', 'gatehouse doctor']);
    for (const command of commands) {
      const { code, stderr } = await gatehouse(...command.split(' ').slice(1));
      assert.deepEqual([code, stderr], [0, ''], command);
    }
    const restored = open(ownerUrl);
    const owners = await execute(
      restored,
      `SELECT proowner::regrole::text AS name FROM pg_proc WHERE prosecdef GROUP BY 1 ORDER BY 1`,
    );
    assert.deepEqual(
      owners.map(({ name }) => name),
      ['gatehouse_retention', OWNER],
    );
    const verified = await gatehouse('activity', 'verify');
    assert.deepEqual([verified.code, verified.stderr], [0, ''], verified.stdout);
    // The role may make functions in the schema for the moment of the migration only.
    const created = await execute(
      restored,
      `SELECT 'may create' AS name WHERE has_schema_privilege('gatehouse_retention', 'public', 'CREATE')`,
    );
    assert.deepEqual(created, []);
  });
});
