import assert from 'node:assert/strict';
import { chmod, chown, cp, lstat, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import {
  amRoot,
  assertNoServer,
  isKept,
  keep,
  makeFolder,
  makeGround,
  NOBODY,
  query,
} from '../testing/postgres-server.ts';
import { openEmbeddedPostgres } from './index.ts';
import { giveTreeTo } from './launch.ts';
import { preparePlace } from './place.ts';
import { ownIdsOf } from './server-ids.ts';
import { findSystemTools, run } from './system-tools.ts';

const ground = await makeGround();
after(() => ground[Symbol.asyncDispose]());

const rootOnly = { skip: !amRoot && 'this run is not root, and these ways are open to root alone' };
const tools = findSystemTools();

async function openAndClose(dataDir: string, surroundings = {}): Promise<number> {
  await using server = await openEmbeddedPostgres({ dataDir }, surroundings);
  assert.equal((await query(server, 'SELECT 1')).length, 1);
  return (await stat(server.dataDirectory)).uid;
}

/** Where the programs are within every user's reach, as where a system-wide installation lies. */
async function openAndCloseWithin(dataDir: string, surroundings = {}): Promise<number> {
  return await openAndClose(dataDir, { nativeFolder: await ground.openNativeFolder(), ...surroundings });
}

async function ownIds(dataDir: string): Promise<number[]> {
  return ownIdsOf((await preparePlace(dataDir)).clusterDir);
}

/** What a shell of this user says; undefined where it fails. */
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
    const dataDir = await makeFolder(ground.dataDir(), 0o700);
    await chown(dataDir, daemon, daemon);
    assert.equal(await openAndCloseWithin(dataDir), daemon);
    assert.equal((await stat(join(dataDir, 'postgres.lock'))).uid, daemon);
  },
);

test('as root below a closed directory the server runs in a user namespace', rootOnly, async () => {
  const dataDir = ground.dataDir('closed', 'data');
  await makeFolder(dirname(dataDir), 0o700);
  assert.equal(await openAndClose(dataDir), 0);
  assert.equal(await openAndClose(dataDir), 0);
});

test(
  'as root the server has an id of its own, until that can no longer reach the directory',
  rootOnly,
  async () => {
    const dataDir = ground.dataDir('parent', 'data');
    const own = await openAndCloseWithin(dataDir);
    assert.ok((await ownIds(dataDir)).includes(own));
    await chmod(dirname(dataDir), 0o700);
    assert.equal(await openAndCloseWithin(dataDir), 0);
    await chmod(dirname(dataDir), 0o755);
    assert.equal(await openAndCloseWithin(dataDir), 0);
    assert.equal(await openAndCloseWithin(dataDir, { tools: { ...tools, unshare: undefined } }), own);
  },
);

test(
  'where no user namespace can be had the server has an id of its own all the same',
  rootOnly,
  async () => {
    const dataDir = ground.dataDir();
    const own = await openAndCloseWithin(dataDir, { tools: { ...tools, unshare: undefined } });
    assert.ok((await ownIds(dataDir)).includes(own));
  },
);

test('two directories have two ids', rootOnly, async () => {
  const [one, other] = [ground.dataDir(), ground.dataDir()];
  await Promise.all([one, other].map((dataDir) => openAndCloseWithin(dataDir)));
  assert.notEqual((await stat(join(one, 'postgres'))).uid, (await stat(join(other, 'postgres'))).uid);
});

for (const [where, mode] of [
  ['that others can enter', 0o755],
  ['that others cannot enter', 0o700],
] as const) {
  test(`as root in a folder ${where} a process of nobody has no way in`, rootOnly, async () => {
    const dataDir = ground.dataDir('parent', 'data');
    await makeFolder(dirname(dataDir), mode);
    await using server = await openEmbeddedPostgres(
      { dataDir },
      { nativeFolder: await ground.openNativeFolder() },
    );
    const { dataDirectory, connection } = server;
    const socket = join(connection.host, `.s.PGSQL.${connection.port}`);
    const trust = join(dataDirectory, 'pg_hba.conf');
    // That the shell can do it at all, as root, is what makes its failing tell anything.
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
  'a directory that belongs to nobody changes hands at the next start, with its data',
  rootOnly,
  async () => {
    const dataDir = ground.dataDir();
    const nativeFolder = await ground.openNativeFolder();
    {
      await using server = await openEmbeddedPostgres({ dataDir }, { nativeFolder });
      await keep(server, 'kept');
    }
    const cluster = join(dataDir, 'postgres');
    const former = await stat(cluster);
    await giveTreeTo(cluster, former, { uid: NOBODY, gid: NOBODY });
    assert.equal((await stat(cluster)).uid, NOBODY);
    await using server = await openEmbeddedPostgres({ dataDir }, { nativeFolder });
    assert.ok(await isKept(server, 'kept'));
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
    assert.ok((await ownIds(dataDir)).includes(former.uid));
  },
);

test('a file of somebody else in a directory that changes hands stays whose it is', rootOnly, async () => {
  const folder = await makeFolder(ground.dataDir(), 0o755);
  await writeFile(join(folder, 'theirs'), '');
  await writeFile(join(folder, 'ours'), '');
  await chown(join(folder, 'ours'), NOBODY, NOBODY);
  await giveTreeTo(folder, { uid: NOBODY, gid: NOBODY }, { uid: 60_706, gid: 60_706 });
  assert.equal((await stat(join(folder, 'theirs'))).uid, 0);
  assert.equal((await stat(join(folder, 'ours'))).uid, 60_706);
});

test('as root with every way closed the refusal says what was tried', rootOnly, async () => {
  const dataDir = ground.dataDir('closed', 'data');
  await makeFolder(dirname(dataDir), 0o700);
  await assert.rejects(
    openEmbeddedPostgres({ dataDir }, { tools: { ...tools, unshare: undefined } }),
    /cannot be run here. as user \d+: .*refuses to run as root/,
  );
});

for (const [whom, uid] of [
  ['an ordinary user', NOBODY],
  ['a user whom the system has no name for', 12_345],
] as const) {
  test(`${whom} runs the server, and owns all of it`, rootOnly, async () => {
    const dataDir = await makeFolder(ground.dataDir(), 0o700);
    await chown(dataDir, uid, uid);
    const nativeFolder = await ground.openNativeFolder();
    await using holder = ground.hold({ dataDir, uid, surroundings: { nativeFolder } });
    assert.equal((await holder.opened()).role, 'owner');
    assert.equal(await holder.release(), 0);
    await assertNoServer(dataDir);
    const owners = await Promise.all(
      (await readdir(dataDir)).map(async (name) => (await stat(join(dataDir, name))).uid),
    );
    assert.deepEqual(new Set(owners), new Set([uid]));
  });
}

test('root joins the server of an ordinary user', rootOnly, async () => {
  const dataDir = await makeFolder(ground.dataDir(), 0o700);
  await chown(dataDir, NOBODY, NOBODY);
  const surroundings = { nativeFolder: await ground.openNativeFolder() };
  await using holder = ground.hold({ dataDir, uid: NOBODY, surroundings });
  assert.equal((await holder.opened()).role, 'owner');
  await using guest = await openEmbeddedPostgres({ dataDir }, surroundings);
  assert.equal(guest.role(), 'guest');
  assert.equal(await holder.release(), 0);
});

test('the names of the libraries are made where the installer made none', async () => {
  const nativeFolder = await copyWithoutLinks();
  await openAndClose(ground.dataDir(), { nativeFolder });
  assert.ok((await readdir(join(nativeFolder, 'lib'))).includes('libicuuc.so.60'));
});

test(
  'the names of the libraries go to the data directory when the installation is read-only',
  rootOnly,
  async () => {
    const nativeFolder = await copyWithoutLinks();
    const dataDir = await makeFolder(ground.dataDir(), 0o700);
    await chown(dataDir, NOBODY, NOBODY);
    await using holder = ground.hold({ dataDir, uid: NOBODY, surroundings: { nativeFolder } });
    assert.equal((await holder.opened()).role, 'owner');
    assert.equal(await holder.release(), 0);
    assert.ok((await readdir(join(dataDir, 'postgres.lib'))).includes('libicuuc.so.60'));
  },
);

async function copyWithoutLinks(): Promise<string> {
  const nativeFolder = ground.dataDir('native');
  await mkdir(dirname(nativeFolder), { recursive: true });
  await cp(await ground.openNativeFolder(), nativeFolder, { recursive: true, verbatimSymlinks: true });
  for (const entry of await readdir(join(nativeFolder, 'lib'), { withFileTypes: true })) {
    if (entry.isSymbolicLink()) await rm(join(nativeFolder, 'lib', entry.name));
  }
  return nativeFolder;
}
