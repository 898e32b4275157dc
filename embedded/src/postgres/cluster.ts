import { randomBytes } from 'node:crypto';
import { lstat, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { identifyProcess } from '@gatehouse/concurrency';
import { EmbeddedPostgresError, errorCode, messageOf } from './errors.ts';
import type { FileOwner, Launch } from './launch.ts';
import type { NativeBinaries } from './native-binaries.ts';
import { COMPLETE, chownTree, openFolder } from './owner-change.ts';
import type { ServerLock } from './server-lock.ts';
import { run } from './system-tools.ts';

/** The superuser of every embedded cluster, and the product's database. */
export const USER = 'gatehouse';
export const DATABASE = 'gatehouse';

export interface Cluster {
  /** The PostgreSQL major version that created it, as `18`. */
  readonly major: string;
  readonly owner: FileOwner;
  /** The users that its files may belong to. Several after a change of owner that was interrupted. */
  readonly ownerIds: ReadonlySet<number>;
}

const INITDB_TIMEOUT_MS = 120_000;

/** The cluster at the path; undefined when there is none yet (an empty directory counts as none). Throws for anything
 *  else, and leaves it alone: it may be data that is still needed. */
export async function inspectCluster(clusterDir: string): Promise<Cluster | undefined> {
  const found = await stat(clusterDir).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw new EmbeddedPostgresError(`The database directory cannot be read: ${messageOf(error)}`);
  });
  if (!found) return undefined;
  if (!found.isDirectory()) {
    throw new EmbeddedPostgresError(
      `${clusterDir} is not a directory. The database needs that path: move the file away.`,
    );
  }
  const owner = { uid: found.uid, gid: found.gid };
  const me = process.geteuid?.() ?? 0;
  if (me !== 0 && owner.uid !== me) {
    throw new EmbeddedPostgresError(
      `${clusterDir} belongs to another user (uid ${owner.uid}), and this is uid ${me}. Run as that user or as root, or choose another data directory.`,
    );
  }
  if ((await readdir(clusterDir)).length === 0) return undefined;
  const version = await findFile(clusterDir, 'PG_VERSION');
  if (!version) {
    throw new EmbeddedPostgresError(
      `${clusterDir} holds something other than a PostgreSQL database (it has no PG_VERSION). Move it away, or choose another data directory.`,
    );
  }
  if (!(await findFile(clusterDir, join('global', 'pg_control')))) {
    throw new EmbeddedPostgresError(
      `The database in ${clusterDir} is incomplete: global/pg_control is missing. Restore it from a backup, or move it away to create an empty one.`,
    );
  }
  return {
    major: (await readFile(version.path, 'utf8')).trim(),
    // During a change of owner the directory is root's.
    owner: owner.uid === 0 ? version.owner : owner,
    ownerIds: new Set([owner.uid, version.owner.uid]),
  };
}

async function findFile(
  clusterDir: string,
  name: string,
): Promise<{ readonly path: string; readonly owner: FileOwner } | undefined> {
  // Twice in the first: another process may be moving it there.
  for (const folder of [clusterDir, join(clusterDir, COMPLETE), clusterDir]) {
    const path = join(folder, name);
    const found = await lstat(path).catch(() => undefined);
    if (found?.isFile()) return { path, owner: { uid: found.uid, gid: found.gid } };
  }
  return undefined;
}

export function requireMajor(cluster: Cluster, clusterDir: string, major: string): void {
  if (cluster.major === major) return;
  throw new EmbeddedPostgresError(
    `The database in ${clusterDir} was made by PostgreSQL ${cluster.major}, and the embedded server is PostgreSQL ${major}, which cannot read it. Use the Gatehouse release that made it, or dump the data from one and restore it into the other.`,
  );
}

/** Removes what a killed initdb left. initdb holds the lock while it works, so under an exclusive lock no draft is in
 *  use; without one, a draft is stale when the process in its name is gone. */
export async function removeLeftovers(clusterDir: string, lock: ServerLock): Promise<void> {
  const prefix = draftPrefix(clusterDir);
  for (const name of await readdir(dirname(clusterDir))) {
    if (!name.startsWith(prefix)) continue;
    const maker = Number(name.slice(prefix.length).split('-')[0]);
    if (!lock.exclusive && Number.isInteger(maker) && maker > 0 && identifyProcess(maker)) continue;
    await rm(join(dirname(clusterDir), name), { recursive: true, force: true });
  }
}

/** Creates an empty cluster. It appears at its path complete or not at all: a killed initdb leaves a directory that
 *  looks complete, so initdb works in a draft under another name. */
export async function createCluster(
  clusterDir: string,
  native: NativeBinaries,
  { server, init }: { readonly server: Launch; readonly init: Launch },
  lock: ServerLock,
): Promise<void> {
  const parent = dirname(clusterDir);
  const closed = join(parent, `${draftPrefix(clusterDir)}${process.pid}-${randomBytes(6).toString('hex')}`);
  const draft = join(closed, 'cluster');
  await mkdir(closed, { mode: 0o700 });
  try {
    await mkdir(draft, { mode: 0o700 });
    if (init.uid !== undefined) {
      await giveFolder(draft, init.owner, 0o700);
      // For the group alone: initdb's user may be `nobody` (launch.ts).
      await giveFolder(closed, { uid: 0, gid: init.owner.gid }, 0o710);
    }
    // On a gentler signal initdb would first finish its step, for a draft that is no longer needed.
    const command = init.command('KILL', [native.initdb, ...initdbArguments(draft)]);
    const { status, output } = await run(command, {
      env: init.env,
      uid: init.uid,
      gid: init.gid,
      fd: lock.fd,
      timeoutMs: INITDB_TIMEOUT_MS,
    });
    if (status !== 0) {
      throw new EmbeddedPostgresError(`The database could not be created. initdb said: ${output.trim()}`);
    }
    if (init.owner.uid !== server.owner.uid) await chownTree(draft, init.owner.uid, server.owner);
    await rename(draft, clusterDir).catch((error: unknown) => {
      // Only without an exclusive lock: another process was faster. Its cluster is used.
      if (!lock.exclusive && ['ENOTEMPTY', 'EEXIST'].includes(errorCode(error) ?? '')) return;
      throw new EmbeddedPostgresError(
        `The new database could not be moved to its final path: ${messageOf(error)}`,
      );
    });
    // initdb has flushed the files; the rename is an entry of the parent directory.
    await using folder = await open(parent, 'r');
    await folder.sync();
  } finally {
    await rm(closed, { recursive: true, force: true });
  }
}

async function giveFolder(path: string, owner: FileOwner, mode: number): Promise<void> {
  await using folder = await openFolder(path);
  await folder.chown(owner.uid, owner.gid);
  await folder.chmod(mode);
}

function initdbArguments(draft: string): string[] {
  return [
    ...['-D', draft, '--username', USER, '--auth=trust', '--encoding=UTF8', '--no-instructions'],
    // Sorting by code point is the same on every system and never changes, unlike a C library's, which breaks indexes.
    ...['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
  ];
}

function draftPrefix(clusterDir: string): string {
  return `${basename(clusterDir)}.new-`;
}
