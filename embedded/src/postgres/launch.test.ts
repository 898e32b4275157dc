import assert from 'node:assert/strict';
import { chmod, chown, cp, lstat, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import {
  amRoot,
  assertNoServer,
  createPostgresFixture,
  hasRow,
  insertRow,
  makeFolder,
  NOBODY,
  query,
} from '../testing/postgres-fixture.ts';
import { startShell } from '../testing/shell.ts';
import { prepareClusterPaths } from './cluster-paths.ts';
import { openEmbeddedPostgres } from './index.ts';
import { chownTree } from './owner-change.ts';
import { dedicatedIdsOf } from './server-ids.ts';
import { findSystemTools, run } from './system-tools.ts';

const fixture = await createPostgresFixture();
after(() => fixture[Symbol.asyncDispose]());

const rootOnly = { skip: !amRoot && 'needs root' };
const tools = findSystemTools();

async function openAndClose(dataDir: string, environment = {}): Promise<number> {
  await using server = await openEmbeddedPostgres({ dataDir }, environment);
  assert.equal((await query(server, 'SELECT 1')).length, 1);
  return (await stat(server.dataDirectory)).uid;
}

/** With programs that every user can read, as in a system-wide installation. */
async function openAndCloseWithin(dataDir: string, environment = {}): Promise<number> {
  return await openAndClose(dataDir, { nativeFolder: await fixture.openNativeFolder(), ...environment });
}

async function dedicatedIds(dataDir: string): Promise<number[]> {
  return dedicatedIdsOf((await prepareClusterPaths(dataDir)).clusterDir);
}

/** The output of a shell of this user; undefined if it fails. */
async function shellOf(uid: number, script: string, ...args: string[]): Promise<string | undefined> {
  const { status, output } = await run(['/bin/sh', '-c', script, 'sh', ...args], {
    uid,
    gid: uid,
    timeoutMs: 10_000,
  });
  return status === 0 ? output : undefined;
}

test(
  "as root the server runs as the owner of a data directory that is another user's",
  rootOnly,
  async () => {
    const daemon = 1;
    const dataDir = await makeFolder(fixture.dataDir(), 0o700);
    await chown(dataDir, daemon, daemon);
    assert.equal(await openAndCloseWithin(dataDir), daemon);
    assert.equal((await stat(join(dataDir, 'postgres.lock'))).uid, daemon);
  },
);

test('as root below a closed directory the server runs in a user namespace', rootOnly, async () => {
  const dataDir = fixture.dataDir('closed', 'data');
  await makeFolder(dirname(dataDir), 0o700);
  assert.equal(await openAndClose(dataDir), 0);
  assert.equal(await openAndClose(dataDir), 0);
});

test(
  'as root the server runs under a dedicated id, until that id cannot reach the directory',
  rootOnly,
  async () => {
    const dataDir = fixture.dataDir('parent', 'data');
    const own = await openAndCloseWithin(dataDir);
    assert.ok((await dedicatedIds(dataDir)).includes(own));
    await chmod(dirname(dataDir), 0o700);
    assert.equal(await openAndCloseWithin(dataDir), 0);
    await chmod(dirname(dataDir), 0o755);
    assert.equal(await openAndCloseWithin(dataDir), 0);
    assert.equal(await openAndCloseWithin(dataDir, { tools: { ...tools, unshare: undefined } }), own);
  },
);

test('as root without user namespaces the server runs under a dedicated id', rootOnly, async () => {
  const dataDir = fixture.dataDir();
  const own = await openAndCloseWithin(dataDir, { tools: { ...tools, unshare: undefined } });
  assert.ok((await dedicatedIds(dataDir)).includes(own));
});

test(
  'without user namespaces no process of nobody gets at a file while the database is created',
  rootOnly,
  async () => {
    const dataDir = await makeFolder(fixture.dataDir(), 0o755);
    await using shell = await startShell(NOBODY);
    const names = `'${dataDir}'/postgres.new-*/postgresql.auto.conf '${dataDir}'/postgres.new-*/*/postgresql.auto.conf`;
    const spying = shell.run(
      `until [ -e '${dataDir}/done' ]; do`,
      `  for file in ${names} /proc/[0-9]*/cwd/postgresql.auto.conf; do`,
      '    [ -w "$file" ] && exec 3<>"$file" && echo "opened $file"',
      '  done',
      '  ls -d /proc/[0-9]*/fd/* 2>/dev/null | grep -v "/proc/$$/" | while read -r file; do',
      `    case "$(readlink "$file" 2>/dev/null)" in '${dataDir}'/*) echo "saw $file";; esac`,
      '  done',
      'done',
      "echo 'log_min_messages = panic' >&3",
    );
    {
      await using server = await openEmbeddedPostgres(
        { dataDir },
        { nativeFolder: await fixture.openNativeFolder(), tools: { ...tools, unshare: undefined } },
      );
      await writeFile(join(dataDir, 'done'), '');
      await spying;
      assert.doesNotMatch(shell.output(), /opened|saw/);
      assert.doesNotMatch(
        await readFile(join(server.dataDirectory, 'postgresql.auto.conf'), 'utf8'),
        /panic/,
      );
    }
  },
);

test('as root without user namespaces the server runs as an owner that has no name', rootOnly, async () => {
  const dataDir = await makeFolder(fixture.dataDir(), 0o711);
  await chown(dataDir, 12_345, 12_345);
  assert.equal(await openAndCloseWithin(dataDir, { tools: { ...tools, unshare: undefined } }), 12_345);
});

test('two directories have two dedicated ids', rootOnly, async () => {
  const [one, other] = [fixture.dataDir(), fixture.dataDir()];
  await Promise.all([one, other].map((dataDir) => openAndCloseWithin(dataDir)));
  assert.notEqual((await stat(join(one, 'postgres'))).uid, (await stat(join(other, 'postgres'))).uid);
});

for (const [where, mode] of [
  ['that others can enter', 0o755],
  ['that others cannot enter', 0o700],
] as const) {
  test(`as root in a folder ${where} a process of nobody has no access`, rootOnly, async () => {
    const dataDir = fixture.dataDir('parent', 'data');
    await makeFolder(dirname(dataDir), mode);
    await using server = await openEmbeddedPostgres(
      { dataDir },
      { nativeFolder: await fixture.openNativeFolder() },
    );
    const { dataDirectory, connection } = server;
    const socket = join(connection.host, `.s.PGSQL.${connection.port}`);
    const trust = join(dataDirectory, 'pg_hba.conf');
    // The control: root's shell can.
    assert.ok((await shellOf(0, 'ls -d -- "$1"', socket))?.includes(socket));
    assert.equal(await shellOf(NOBODY, 'ls -d -- "$1"', socket), undefined);
    assert.notEqual(await shellOf(0, 'cat -- "$1"', trust), undefined);
    for (const attempt of ['cat -- "$1"', 'echo "# mine" >> "$1"', 'mv -- "$1" "$1.old"']) {
      assert.equal(await shellOf(NOBODY, attempt, trust), undefined, attempt);
    }
    assert.equal(await shellOf(NOBODY, 'kill -0 "$1"', String(server.serverPid())), undefined);
  });
}

test(
  'a directory that belongs to nobody gets another owner at the next start, with its data',
  rootOnly,
  async () => {
    const dataDir = fixture.dataDir();
    const nativeFolder = await fixture.openNativeFolder();
    {
      await using server = await openEmbeddedPostgres({ dataDir }, { nativeFolder });
      await insertRow(server, 'kept');
    }
    const cluster = join(dataDir, 'postgres');
    const former = await stat(cluster);
    await chownTree(cluster, former.uid, { uid: NOBODY, gid: NOBODY });
    assert.equal((await stat(cluster)).uid, NOBODY);
    await using server = await openEmbeddedPostgres({ dataDir }, { nativeFolder });
    assert.ok(await hasRow(server, 'kept'));
    const paths = ['.', ...(await readdir(cluster, { recursive: true }))];
    const owners = await Promise.all(
      paths.map((path) =>
        lstat(join(cluster, path)).then(
          ({ uid }) => uid,
          () => former.uid,
        ),
      ),
    );
    assert.deepEqual(new Set(owners), new Set([former.uid]));
    assert.ok((await dedicatedIds(dataDir)).includes(former.uid));
  },
);

test('a file of another user in a directory that gets another owner keeps its own', rootOnly, async () => {
  const folder = await makeFolder(fixture.dataDir(), 0o755);
  await writeFile(join(folder, 'theirs'), '');
  await writeFile(join(folder, 'ours'), '');
  await chown(join(folder, 'ours'), NOBODY, NOBODY);
  await chownTree(folder, NOBODY, { uid: 60_706, gid: 60_706 });
  assert.equal((await stat(join(folder, 'theirs'))).uid, 0);
  assert.equal((await stat(join(folder, 'ours'))).uid, 60_706);
});

test('as root with every method closed the error says what was tried', rootOnly, async () => {
  const dataDir = fixture.dataDir('closed', 'data');
  await makeFolder(dirname(dataDir), 0o700);
  await assert.rejects(
    openEmbeddedPostgres({ dataDir }, { tools: { ...tools, unshare: undefined } }),
    /cannot be run here. as user \d+: .*refuses to run as root/,
  );
});

for (const [user, uid] of [
  ['an ordinary user', NOBODY],
  ['a user without a name on the system', 12_345],
] as const) {
  test(`${user} runs the server, and owns all of it`, rootOnly, async () => {
    const dataDir = await makeFolder(fixture.dataDir(), 0o700);
    await chown(dataDir, uid, uid);
    const nativeFolder = await fixture.openNativeFolder();
    await using holder = fixture.startHolder({ dataDir, uid, environment: { nativeFolder } });
    assert.equal((await holder.opened()).role, 'leader');
    assert.equal(await holder.release(), 0);
    await assertNoServer(dataDir);
    const owners = await Promise.all(
      (await readdir(dataDir)).map(async (name) => (await stat(join(dataDir, name))).uid),
    );
    assert.deepEqual(new Set(owners), new Set([uid]));
  });
}

test('root follows the server of an ordinary user', rootOnly, async () => {
  const dataDir = await makeFolder(fixture.dataDir(), 0o700);
  await chown(dataDir, NOBODY, NOBODY);
  const environment = { nativeFolder: await fixture.openNativeFolder() };
  await using holder = fixture.startHolder({ dataDir, uid: NOBODY, environment });
  assert.equal((await holder.opened()).role, 'leader');
  await using follower = await openEmbeddedPostgres({ dataDir }, environment);
  assert.equal(follower.role(), 'follower');
  assert.equal(await holder.release(), 0);
});

test('the links to libraries are made if the installer made none', async () => {
  const nativeFolder = await copyWithoutLinks();
  await openAndClose(fixture.dataDir(), { nativeFolder });
  assert.ok((await readdir(join(nativeFolder, 'lib'))).includes('libicuuc.so.60'));
});

test(
  'the links to libraries are made in the data directory if the installation is read-only',
  rootOnly,
  async () => {
    const nativeFolder = await copyWithoutLinks();
    const dataDir = await makeFolder(fixture.dataDir(), 0o700);
    await chown(dataDir, NOBODY, NOBODY);
    await using holder = fixture.startHolder({ dataDir, uid: NOBODY, environment: { nativeFolder } });
    assert.equal((await holder.opened()).role, 'leader');
    assert.equal(await holder.release(), 0);
    assert.ok((await readdir(join(dataDir, 'postgres.lib'))).includes('libicuuc.so.60'));
  },
);

async function copyWithoutLinks(): Promise<string> {
  const nativeFolder = fixture.dataDir('native');
  await mkdir(dirname(nativeFolder), { recursive: true });
  await cp(await fixture.openNativeFolder(), nativeFolder, { recursive: true, verbatimSymlinks: true });
  for (const entry of await readdir(join(nativeFolder, 'lib'), { withFileTypes: true })) {
    if (entry.isSymbolicLink()) await rm(join(nativeFolder, 'lib', entry.name));
  }
  return nativeFolder;
}
