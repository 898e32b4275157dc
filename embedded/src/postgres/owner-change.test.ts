import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import {
  chown,
  cp,
  link,
  lstat,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import {
  amRoot,
  createPostgresFixture,
  hasRow,
  insertRow,
  makeFolder,
  NOBODY,
  query,
} from '../testing/postgres-fixture.ts';
import { startShell } from '../testing/shell.ts';
import { type EmbeddedPostgres, openEmbeddedPostgres } from './index.ts';
import { chownTree, replaceFiles } from './owner-change.ts';
import { run } from './system-tools.ts';

const fixture = await createPostgresFixture();
after(() => fixture[Symbol.asyncDispose]());

const rootOnly = { skip: !amRoot && 'needs root' };
const OWNER = { uid: 60_706, gid: 60_706 };
const never = new AbortController().signal;

async function open(dataDir: string): Promise<EmbeddedPostgres> {
  return await openEmbeddedPostgres({ dataDir }, { nativeFolder: await fixture.openNativeFolder() });
}

/** A data directory whose cluster belongs to nobody and has the row `kept`. */
async function clusterOfNobody(): Promise<{ dataDir: string; cluster: string; ownerUid: number }> {
  const dataDir = fixture.dataDir();
  {
    await using server = await open(dataDir);
    await insertRow(server, 'kept');
  }
  const cluster = join(dataDir, 'postgres');
  const ownerUid = (await stat(cluster)).uid;
  await chownTree(cluster, ownerUid, { uid: NOBODY, gid: NOBODY });
  return { dataDir, cluster, ownerUid };
}

async function inodesIn(folder: string): Promise<Map<string, { ino: number; uid: number }>> {
  const paths = await readdir(folder, { recursive: true });
  return new Map(
    await Promise.all(paths.map(async (path) => [path, await lstat(join(folder, path))] as const)),
  );
}

/** A folder of nobody with what a cluster needs to be recognised. */
async function smallTree(): Promise<{ folder: string; contents: Record<string, string> }> {
  const folder = await makeFolder(fixture.dataDir('tree'), 0o700);
  const contents = { PG_VERSION: '18\n', 'global/pg_control': 'c', 'base/1/2': 'rows', 'base/1/3': '' };
  for (const [path, text] of Object.entries(contents)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text, { mode: 0o600 });
  }
  await chownTree(folder, 0, { uid: NOBODY, gid: NOBODY });
  return { folder, contents };
}

async function filesIn(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const pairs = files.map(async (path) => [path.slice(folder.length + 1), await readFile(path, 'utf8')]);
  return Object.fromEntries(await Promise.all(pairs));
}

test('a process of nobody that has files open has none of the new ones', rootOnly, async () => {
  const { dataDir, cluster, ownerUid } = await clusterOfNobody();
  const before = await inodesIn(cluster);
  await using shell = await startShell(NOBODY);
  await shell.run(
    `cd '${cluster}/base'`,
    `exec 3>>'${cluster}/postgresql.auto.conf'`,
    'touch mine && rm mine',
  );
  assert.equal(shell.output(), 'done-1\n');
  await using server = await open(dataDir);
  assert.ok(await hasRow(server, 'kept'));
  await shell.run("echo 'planted = 1' >&3", 'touch mine || echo refused', 'ls 1 || echo refused');
  assert.equal(shell.output().match(/^refused$/gm)?.length, 2);
  assert.doesNotMatch(await readFile(join(cluster, 'postgresql.auto.conf'), 'utf8'), /planted/);
  const old = new Set([...before.values()].map(({ ino }) => ino));
  for (const [path, { ino, uid }] of await inodesIn(cluster)) {
    assert.equal(uid, ownerUid, path);
    // A number that was free again may be used for a file that the server has made since.
    if (path in Object.fromEntries(before)) assert.ok(before.get(path)?.ino !== ino, path);
  }
  assert.ok(old.size > 100);
  assert.equal((await stat(cluster)).uid, ownerUid);
});

test('a change of owner that was interrupted at any step is completed by the next', rootOnly, async () => {
  for (let steps = 0, isComplete = false; !isComplete; steps += 1) {
    const { folder, contents } = await smallTree();
    let left = steps;
    const signal = Object.defineProperty(new AbortController().signal, 'aborted', { get: () => left-- <= 0 });
    const change = { clusterDir: folder, from: new Set([NOBODY]), to: OWNER };
    isComplete = await replaceFiles({ ...change, signal }).then(
      () => true,
      ({ message }: Error) => {
        assert.match(message, /was cancelled/);
        return false;
      },
    );
    if (!isComplete) {
      assert.equal((await stat(folder)).uid, 0);
      await replaceFiles({ ...change, signal: never });
    }
    assert.deepEqual(await filesIn(folder), contents, `after ${steps} steps`);
    for (const [path, { uid }] of await inodesIn(folder)) assert.equal(uid, OWNER.uid, path);
    assert.equal((await readdir(folder)).length, 3);
    assert.equal((await stat(folder)).uid, OWNER.uid);
    if (isComplete) assert.ok(steps > 8);
  }
});

for (const [state, prepare] of [
  [
    'before the copy',
    async (cluster: string) => {
      await chown(cluster, 0, 0);
      await mkdir(join(cluster, 'owner-change.partial'), { mode: 0o700 });
    },
  ],
  [
    'between the old files and the new ones',
    async (cluster: string, ownerUid: number) => {
      const complete = join(cluster, 'owner-change.complete');
      const isMoving = () => existsSync(complete) && readdirSync(complete).length < 20;
      const signal = Object.defineProperty(new AbortController().signal, 'aborted', { get: isMoving });
      const to = { uid: ownerUid, gid: ownerUid };
      await assert.rejects(
        replaceFiles({ clusterDir: cluster, from: new Set([NOBODY]), to, signal }),
        /was cancelled/,
      );
      // The next entry, as if the process had been killed between the two calls.
      const [next = ''] = await readdir(complete);
      await rm(join(cluster, next), { recursive: true });
    },
  ],
  [
    'at the end',
    async (cluster: string, ownerUid: number) => {
      await replaceFiles({
        clusterDir: cluster,
        from: new Set([NOBODY]),
        to: { uid: ownerUid, gid: ownerUid },
        signal: never,
      });
      await mkdir(join(cluster, 'owner-change.complete'), { mode: 0o700 });
    },
  ],
] as const) {
  test(`a start that ended ${state} is continued by the next one`, rootOnly, async () => {
    const { dataDir, cluster, ownerUid } = await clusterOfNobody();
    await prepare(cluster, ownerUid);
    await using server = await open(dataDir);
    assert.ok(await hasRow(server, 'kept'));
    assert.deepEqual(
      new Set([...(await inodesIn(cluster)).values()].map(({ uid }) => uid)),
      new Set([ownerUid]),
    );
    assert.ok(!(await readdir(cluster)).some((name) => name.startsWith('owner-change')));
  });
}

for (const [what, plant] of [
  ['a link', (folder: string) => symlink('/etc/passwd', join(folder, 'base', 'planted'))],
  [
    'a file of another user',
    async (folder: string) => {
      await writeFile(join(folder, 'base', 'planted'), '');
      await chown(join(folder, 'base', 'planted'), 12_345, 12_345);
    },
  ],
  [
    'another name of a file of root',
    async (folder: string) => {
      await writeFile(join(dirname(folder), 'secret'), 'secret');
      await link(join(dirname(folder), 'secret'), join(folder, 'base', 'planted'));
    },
  ],
  ['a pipe', async (folder: string) => void execFileSync('mkfifo', [join(folder, 'base', 'planted')])],
] as const) {
  test(`${what} in a directory of nobody is not copied, and nothing is changed`, rootOnly, async () => {
    const { folder, contents } = await smallTree();
    await plant(folder);
    await assert.rejects(
      replaceFiles({ clusterDir: folder, from: new Set([NOBODY]), to: OWNER, signal: never }),
      /planted in there cannot be: it is not a plain file/,
    );
    assert.equal((await stat(folder)).uid, NOBODY);
    assert.equal((await stat(join(folder, 'base'))).uid, NOBODY);
    assert.equal(await readFile(join(folder, 'base/1/2'), 'utf8'), contents['base/1/2']);
  });
}

test('without room for a copy nothing is changed', rootOnly, async (context) => {
  const { folder } = await smallTree();
  const disk = await makeFolder(fixture.dataDir('disk'), 0o755);
  const mounted = await run(['mount', '-t', 'tmpfs', '-o', 'size=1m', 'none', disk], { timeoutMs: 10_000 });
  if (mounted.status !== 0) return context.skip('this system cannot mount');
  try {
    const full = join(disk, 'postgres');
    await cp(folder, full, { recursive: true });
    await writeFile(join(full, 'base', 'large'), Buffer.alloc(600_000));
    await chownTree(full, 0, { uid: NOBODY, gid: NOBODY });
    await assert.rejects(
      replaceFiles({ clusterDir: full, from: new Set([NOBODY]), to: OWNER, signal: never }),
      /needs 1 MB; 1 MB of the disk are free. Nothing was changed/,
    );
    for (const [path, { uid }] of await inodesIn(full)) assert.equal(uid, NOBODY, path);
    assert.equal((await stat(full)).uid, NOBODY);
  } finally {
    await run(['umount', disk], { timeoutMs: 10_000 });
  }
});

test('a data directory of nobody becomes that of root', rootOnly, async () => {
  const dataDir = await makeFolder(fixture.dataDir(), 0o777);
  await chown(dataDir, NOBODY, NOBODY);
  await using server = await open(dataDir);
  assert.equal((await query(server, 'SELECT 1')).length, 1);
  const { uid, gid, mode } = await stat(dataDir);
  assert.deepEqual([uid, gid, mode & 0o777], [0, 0, 0o755]);
});
