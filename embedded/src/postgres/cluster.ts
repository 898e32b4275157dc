import { randomBytes } from 'node:crypto';
import { lstat, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type FileOwner, giveTo, giveTreeTo, type Launch } from './launch.ts';
import type { NativeBinaries } from './native-binaries.ts';
import { identifyProcess } from './processes.ts';
import { EmbeddedPostgresRefused, errorCode, reasonOf } from './refusal.ts';
import type { ServerLock } from './server-lock.ts';
import { run } from './system-tools.ts';

/** The superuser of every cluster that is made here, and the database of the product. */
export const USER = 'gatehouse';
export const DATABASE = 'gatehouse';

export interface Cluster {
  /** The major version that made it, as `18`. */
  readonly major: string;
  readonly owner: FileOwner;
}

const INITDB_TIMEOUT_MS = 120_000;

/** What stands at the path: a cluster, or nothing yet (an empty directory is nothing). Anything else is refused and
 *  left alone, since it may be data that somebody wants. */
export async function inspectCluster(clusterDir: string): Promise<Cluster | undefined> {
  const found = await stat(clusterDir).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw new EmbeddedPostgresRefused(`The database directory cannot be read: ${reasonOf(error)}`);
  });
  if (!found) return undefined;
  if (!found.isDirectory()) {
    throw new EmbeddedPostgresRefused(
      `${clusterDir} is not a directory. The database needs that place: move it away.`,
    );
  }
  const owner = { uid: found.uid, gid: found.gid };
  const me = process.geteuid?.() ?? 0;
  if (me !== 0 && owner.uid !== me) {
    throw new EmbeddedPostgresRefused(
      `${clusterDir} belongs to another user (uid ${owner.uid}), and this is uid ${me}. Run as that user or as root, or choose another data directory.`,
    );
  }
  if ((await readdir(clusterDir)).length === 0) return undefined;
  const version = await readFile(join(clusterDir, 'PG_VERSION'), 'utf8').catch(() => undefined);
  if (version === undefined) {
    throw new EmbeddedPostgresRefused(
      `${clusterDir} holds something other than a PostgreSQL database (it has no PG_VERSION). Move it away, or choose another data directory.`,
    );
  }
  if (!(await lstat(join(clusterDir, 'global', 'pg_control')).catch(() => undefined))?.isFile()) {
    throw new EmbeddedPostgresRefused(
      `The database in ${clusterDir} is incomplete: global/pg_control is missing. Restore it from a backup, or move it away to begin with an empty one.`,
    );
  }
  return { major: version.trim(), owner };
}

export function refuseOtherMajor(cluster: Cluster, clusterDir: string, major: string): void {
  if (cluster.major === major) return;
  throw new EmbeddedPostgresRefused(
    `The database in ${clusterDir} was made by PostgreSQL ${cluster.major}, and the embedded server is PostgreSQL ${major}: it cannot read it. Use the release that made it, or move the data over with a dump from one and a restore into the other.`,
  );
}

/** Removes what a killed initdb left. initdb holds the lock while it works, so under a real lock every remnant is
 *  dead; without one, a remnant is dead when the process that named it is. */
export async function removeRemnants(clusterDir: string, lock: ServerLock): Promise<void> {
  const prefix = remnantPrefix(clusterDir);
  for (const name of await readdir(dirname(clusterDir))) {
    if (!name.startsWith(prefix)) continue;
    const maker = Number(name.slice(prefix.length).split('-')[0]);
    if (!lock.exclusive && Number.isInteger(maker) && maker > 0 && identifyProcess(maker)) continue;
    await rm(join(dirname(clusterDir), name), { recursive: true, force: true });
  }
}

/** Makes an empty cluster. It appears at its path complete or not at all: a killed initdb leaves a directory that
 *  looks like a finished one, so initdb works under another name. */
export async function createCluster(
  clusterDir: string,
  native: NativeBinaries,
  { server, init }: { readonly server: Launch; readonly init: Launch },
  lock: ServerLock,
): Promise<void> {
  const parent = dirname(clusterDir);
  const draft = join(parent, `${remnantPrefix(clusterDir)}${process.pid}-${randomBytes(6).toString('hex')}`);
  await mkdir(draft, { mode: 0o700 });
  try {
    await giveTo(draft, init.owner);
    // Asked in a gentler way, initdb would finish its step first, for a draft that nobody wants any more.
    const command = init.command('KILL', [native.initdb, ...initdbArguments(draft)]);
    const { status, output } = await run(command, {
      env: init.env,
      uid: init.uid,
      gid: init.gid,
      fd: lock.fd,
      timeoutMs: INITDB_TIMEOUT_MS,
    });
    if (status !== 0) {
      throw new EmbeddedPostgresRefused(`The database could not be created. initdb said: ${output.trim()}`);
    }
    if (init.owner.uid !== server.owner.uid) await giveTreeTo(draft, init.owner, server.owner);
    await rename(draft, clusterDir).catch((error: unknown) => {
      // Only without a real lock: another process was quicker, and its cluster is as good.
      if (!lock.exclusive && ['ENOTEMPTY', 'EEXIST'].includes(errorCode(error) ?? '')) return;
      throw new EmbeddedPostgresRefused(`The new database could not be put in its place: ${reasonOf(error)}`);
    });
    // initdb has flushed the files; the new name itself is an entry of the parent.
    await using folder = await open(parent, 'r');
    await folder.sync();
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

function initdbArguments(draft: string): string[] {
  return [
    ...['-D', draft, '--username', USER, '--auth=trust', '--encoding=UTF8', '--no-instructions'],
    // Sorting by code point is the same on every system and never changes under an index, as a C library's does.
    ...['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
  ];
}

function remnantPrefix(clusterDir: string): string {
  return `${basename(clusterDir)}.new-`;
}
