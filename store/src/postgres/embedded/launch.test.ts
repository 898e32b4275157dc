import assert from 'node:assert/strict';
import { chmod, chown, cp, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { amRoot, assertNoServer, makeFolder, makeGround, NOBODY, query } from './drill.ts';
import { openEmbeddedPostgres } from './index.ts';
import { findNativeFolder } from './native-binaries.ts';
import { findSystemTools } from './system-tools.ts';

const ground = await makeGround();
after(() => ground[Symbol.asyncDispose]());

const rootOnly = { skip: !amRoot && 'this run is not root, and these ways are open to root alone' };
const tools = findSystemTools();

async function openAndClose(dataDir: string, surroundings = {}): Promise<number> {
  await using server = await openEmbeddedPostgres({ dataDir }, surroundings);
  assert.equal((await query(server, 'SELECT 1')).length, 1);
  return (await stat(server.dataDirectory)).uid;
}

async function canSeeInstallation(uid: number): Promise<boolean> {
  return await ground
    .hold({ dataDir: '/dev/null' }, { uid })
    .opened()
    .then(() => true)
    .catch((error: Error) => /is not a directory/.test(error.message));
}

test(
  "as root the server runs as the owner of a data directory that is another user's",
  rootOnly,
  async () => {
    const daemon = 1;
    const dataDir = await makeFolder(ground.dataDir(), 0o700);
    await chown(dataDir, daemon, daemon);
    assert.equal(await openAndClose(dataDir), daemon);
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
  'as root the server runs as nobody, until nobody can no longer reach the directory',
  rootOnly,
  async () => {
    const dataDir = ground.dataDir('parent', 'data');
    assert.equal(await openAndClose(dataDir), NOBODY);
    await chmod(dirname(dataDir), 0o700);
    assert.equal(await openAndClose(dataDir), 0);
    await chmod(dirname(dataDir), 0o755);
    assert.equal(await openAndClose(dataDir), 0);
    assert.equal(await openAndClose(dataDir, { tools: { ...tools, unshare: undefined } }), NOBODY);
  },
);

test('as root with every way closed the refusal says what was tried', rootOnly, async () => {
  const dataDir = ground.dataDir('closed', 'data');
  await makeFolder(dirname(dataDir), 0o700);
  await assert.rejects(
    openEmbeddedPostgres({ dataDir }, { tools: { ...tools, unshare: undefined } }),
    /cannot be run here. as user 65534: .*refuses to run as root/,
  );
});

test('an ordinary user runs the server as himself', rootOnly, async (t) => {
  if (!(await canSeeInstallation(NOBODY))) return t.skip('the installation is closed to other users');
  const dataDir = await makeFolder(ground.dataDir(), 0o700);
  await chown(dataDir, NOBODY, NOBODY);
  await using holder = ground.hold({ dataDir }, { uid: NOBODY });
  assert.equal((await holder.opened()).role, 'owner');
  await using guest = await openEmbeddedPostgres({ dataDir });
  assert.equal(guest.role(), 'guest');
  assert.equal(await holder.release(), 0);
  const owners = await Promise.all(
    (await readdir(dataDir)).map(async (name) => (await stat(join(dataDir, name))).uid),
  );
  assert.deepEqual(new Set(owners), new Set([NOBODY]));
});

test('a user whom the system has no name for runs the server too', rootOnly, async (t) => {
  const uid = 12_345;
  if (!(await canSeeInstallation(uid))) return t.skip('the installation is closed to other users');
  const dataDir = await makeFolder(ground.dataDir(), 0o700);
  await chown(dataDir, uid, uid);
  await using holder = ground.hold({ dataDir }, { uid });
  assert.equal((await holder.opened()).role, 'owner');
  assert.equal(await holder.release(), 0);
  await assertNoServer(dataDir);
});

test('the names of the libraries are made where the installer made none', async () => {
  const nativeFolder = await copyWithoutLinks();
  await openAndClose(ground.dataDir(), { nativeFolder });
  assert.ok((await readdir(join(nativeFolder, 'lib'))).includes('libicuuc.so.60'));
});

test(
  'the names of the libraries go to the data directory when the installation is read-only',
  rootOnly,
  async (t) => {
    if (!(await canSeeInstallation(NOBODY))) return t.skip('the installation is closed to other users');
    const nativeFolder = await copyWithoutLinks();
    const dataDir = await makeFolder(ground.dataDir(), 0o700);
    await chown(dataDir, NOBODY, NOBODY);
    await using holder = ground.hold({ dataDir, surroundings: { nativeFolder } }, { uid: NOBODY });
    assert.equal((await holder.opened()).role, 'owner');
    assert.equal(await holder.release(), 0);
    assert.ok((await readdir(join(dataDir, 'postgres.lib'))).includes('libicuuc.so.60'));
  },
);

async function copyWithoutLinks(): Promise<string> {
  const nativeFolder = ground.dataDir('native');
  await mkdir(dirname(nativeFolder), { recursive: true });
  await cp(findNativeFolder(), nativeFolder, { recursive: true, verbatimSymlinks: true });
  for (const entry of await readdir(join(nativeFolder, 'lib'), { withFileTypes: true })) {
    if (entry.isSymbolicLink()) await rm(join(nativeFolder, 'lib', entry.name));
  }
  return nativeFolder;
}
