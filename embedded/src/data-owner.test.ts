import assert from 'node:assert/strict';
import {
  chmod,
  chown,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  realpath,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { openEmbeddedClickHouse } from './clickhouse/index.ts';
import {
  chownCommand,
  DataOwnerError,
  findClosedDirectory,
  findDataOwner,
  findUnusable,
} from './data-owner.ts';
import { amRoot } from './postgres/launch.ts';

const rootOnly = { skip: !amRoot() && 'needs root' };
const USER = 60_101;
const OTHER = 60_102;
const NOBODY = 65_534;

async function directory(owner: number): Promise<AsyncDisposable & { readonly path: string }> {
  const parent = await mkdtemp(join(tmpdir(), 'owner-'));
  await chmod(parent, 0o755);
  const path = join(parent, 'data');
  await mkdir(path);
  await chown(path, owner, owner);
  return { path, [Symbol.asyncDispose]: () => rm(parent, { recursive: true, force: true }) };
}

async function put(path: string, owner: number): Promise<void> {
  await writeFile(path, '');
  await chown(path, owner, owner);
}

describe('the user who writes in a data directory', rootOnly, () => {
  for (const [what, ofDirectory, ofParts, expected] of [
    ['is the owner of an empty directory', USER, [], USER],
    ["is root in root's own directory", 0, [], undefined],
    ['is never nobody on account of the directory alone', NOBODY, [], undefined],
    ['is the owner of the parts, also in a directory of root', 0, [USER, USER], USER],
    ['is nobody where the service ran as nobody', NOBODY, [NOBODY], NOBODY],
    ['is root where root has always run the service', USER, [0, 0], undefined],
  ] as const) {
    it(what, async () => {
      await using data = await directory(ofDirectory);
      for (const [at, owner] of ofParts.entries())
        await put(join(data.path, ['master.key', 'journal'][at] ?? ''), owner);
      assert.equal(findDataOwner(data.path)?.uid, expected);
    });
  }

  it('is that of the nearest directory for one that is still to be made', async () => {
    await using data = await directory(USER);
    assert.deepEqual(findDataOwner(join(data.path, 'a', 'b')), { uid: USER, gid: USER });
  });

  it('is asked for where the parts belong to several', async () => {
    await using data = await directory(USER);
    await put(join(data.path, 'journal'), 0);
    await put(join(data.path, 'master.key'), USER);
    assert.throws(
      () => findDataOwner(data.path),
      (error: Error) =>
        error instanceof DataOwnerError &&
        error.message.includes(`/journal to root`) &&
        error.message.endsWith(`sudo chown -R ${USER}:${USER} ${data.path}`),
    );
  });
});

describe('what another user left', rootOnly, () => {
  it('is found by its path, to the depth that is asked for, and not behind a link', async () => {
    await using data = await directory(USER);
    const user = { uid: USER, gid: USER };
    await mkdir(join(data.path, 'a/b'), { recursive: true });
    for (const path of ['a', 'a/b']) await chown(join(data.path, path), USER, USER);
    await put(join(data.path, 'a/b/left'), OTHER);
    assert.equal(findUnusable(data.path, 2, data.path, user), undefined);
    assert.match(
      findUnusable(data.path, 3, data.path, user) ?? '',
      /\/a\/b\/left belongs to uid 60102, and this runs as uid 60101\. .* sudo chown -R 60101:60101 \//,
    );
  });
});

it('gives a directory away where it is, behind links and with its name in quotes', async () => {
  const parent = await realpath(await mkdtemp(join(tmpdir(), 'owner-')));
  try {
    await mkdir(join(parent, "a user's"));
    await symlink(join(parent, "a user's"), join(parent, 'link'));
    const user = { uid: USER, gid: OTHER };
    assert.equal(
      chownCommand(join(parent, 'link'), user),
      `chown -R ${USER}:${OTHER} '${parent}/a user'\\''s'`,
    );
    assert.equal(chownCommand(join(parent, 'later'), user), `chown -R ${USER}:${OTHER} ${parent}/later`);
  } finally {
    await rm(parent, { recursive: true });
  }
});

describe('a directory that a user may not enter', rootOnly, () => {
  it('is found on the way to a file, by the mode that counts for the user', async () => {
    await using data = await directory(USER);
    const file = join(data.path, 'a', 'file');
    await mkdir(join(data.path, 'a'));
    await put(file, 0);
    const of = (uid: number, gid = uid) => findClosedDirectory(file, { uid, gid });
    assert.equal(of(OTHER), undefined);
    await chmod(data.path, 0o700);
    assert.deepEqual([of(OTHER), of(USER)], [data.path, undefined]);
    await chmod(data.path, 0o710);
    assert.deepEqual([of(OTHER), of(OTHER, USER)], [data.path, undefined]);
    await chmod(join(data.path, 'a'), 0o700);
    assert.deepEqual([of(OTHER), of(USER)], [data.path, join(data.path, 'a')]);
  });
});

const closedToUser = amRoot() && findClosedDirectory(import.meta.filename, { uid: USER, gid: USER });

describe('the engine as root, of an installation that the owner of the data cannot enter', rootOnly, () => {
  it('is not started, and the sentence names the directory', {
    skip: !closedToUser && 'this one is open',
  }, async () => {
    await using data = await directory(USER);
    await assert.rejects(openEmbeddedClickHouse({ dataDir: data.path }), {
      name: 'DataOwnerError',
      message: new RegExp(`who cannot enter ${closedToUser}, where this installation is`),
    });
  });
});

describe('the engine as root', { skip: rootOnly.skip || (closedToUser && 'this folder is closed') }, () => {
  it('runs as the owner of the directory and leaves nothing of root in it', async () => {
    await using data = await directory(USER);
    await using engine = await openEmbeddedClickHouse({ dataDir: data.path });
    assert.equal(engine.role(), 'leader');
    const names = await readdir(data.path, { recursive: true });
    assert.ok(names.includes('clickhouse/data/status') && names.includes('clickhouse/engine.sock'));
    for (const name of names) assert.equal((await lstat(join(data.path, name))).uid, USER, name);
  });

  it('says at once which file is not of that user, and how to give it', async () => {
    await using data = await directory(USER);
    {
      await using _ = await openEmbeddedClickHouse({ dataDir: data.path });
    }
    await put(join(data.path, 'clickhouse/data/status'), 0);
    const openAndClose = async () => {
      await using _ = await openEmbeddedClickHouse({ dataDir: data.path });
    };
    await assert.rejects(
      openAndClose(),
      (error: Error) =>
        error instanceof DataOwnerError &&
        /clickhouse\/data\/status belongs to root, and this runs as uid 60101\./.test(error.message),
    );
  });
});
