import { constants, type Stats } from 'node:fs';
import {
  copyFile,
  type FileHandle,
  lchown,
  lstat,
  mkdir,
  open,
  readdir,
  rename,
  rm,
  rmdir,
  statfs,
} from 'node:fs/promises';
import { join } from 'node:path';
import { EmbeddedPostgresError, errorCode } from './errors.ts';
import { amRoot, type FileOwner, NOBODY } from './launch.ts';
import { dedicatedIdsOf } from './server-ids.ts';

/*
 * How a cluster gets another owner. Where no other program runs as the former owner, the owner of each file is changed.
 *
 * Where others do (`nobody`), that is not enough: a process that has a file open can write it under any later owner. So
 * the files are copied, and the old ones deleted. The directory itself stays, because it may be a mounted volume:
 *
 * 1. It becomes root's, with mode 0700, and so does each directory inside before it is listed. From then on nobody else
 *    can reach or rename anything in there, even with a directory open.
 * 2. Everything is copied into `owner-change.partial`, which is renamed to `owner-change.complete` once it is on the disk.
 * 3. From there each entry takes the place of the old one. The directory gets its owner, and the empty folder goes.
 *
 * A start that finds the second folder continues with step 3, and otherwise begins with step 1, whose traces are
 * directories of root with files of the former owner. Until step 3 the old files are complete, and then the new ones are.
 */
const PARTIAL = 'owner-change.partial';
/** While it exists, an entry of the cluster is in there or at its own place. */
export const COMPLETE = 'owner-change.complete';

export interface OwnerChange {
  readonly clusterDir: string;
  /** Whose files may be in there: others may have been put there for root to copy. */
  readonly from: ReadonlySet<number>;
  readonly to: FileOwner;
  /** Stops the change between two files. The next start continues. */
  readonly signal: AbortSignal;
}

/** True if a start was interrupted in step 3. */
export function isOwnerChanging(clusterDir: string): Promise<boolean> {
  return isRootsFolder(join(clusterDir, COMPLETE));
}

/** True if other programs run as the user, so that changing the owner of its files does not close them. */
export function isShared(uid: number, clusterDir: string): boolean {
  return uid !== 0 && !dedicatedIdsOf(clusterDir).includes(uid);
}

/** Gives everything in a tree that the user owns to `to`, the top last, so that an interrupted change is seen and done
 *  again. Only for trees that no process of the user can reach: it could exchange a directory for a link. */
export async function chownTree(path: string, fromUid: number, to: FileOwner): Promise<void> {
  const found = await lstat(path);
  if (found.isDirectory()) {
    for (const name of await readdir(path)) await chownTree(join(path, name), fromUid, to);
  }
  if (found.uid === fromUid) await lchown(path, to.uid, to.gid);
}

/** A data directory of `nobody` becomes root's: its owner can put another cluster into the place of this one. */
export async function takeFromNobody(dataDir: string): Promise<void> {
  if (!amRoot()) return;
  await using folder = await openFolder(dataDir);
  const { uid, mode } = await folder.stat();
  if (uid !== NOBODY.uid) return;
  await folder.chown(0, 0);
  await folder.chmod(mode & 0o755);
}

/** Replaces all files by copies. For root, under an exclusive lock. Returns the owner, which differs from `to` if an
 *  earlier change was continued. Throws before it changes anything if something in there cannot be copied. */
export async function replaceFiles(change: OwnerChange): Promise<FileOwner> {
  await using top = await openFolder(change.clusterDir);
  // Through the open directory, wherever its path leads by now.
  const folder = pathOf(top);
  if (!(await isRootsFolder(join(folder, COMPLETE)))) {
    const isTaken = (await top.stat()).uid === 0;
    if (isTaken && (await isRootsFolder(join(folder, PARTIAL))))
      await rm(join(folder, PARTIAL), { recursive: true });
    await requireRoom(change, folder);
    await take(top);
    await mkdir(join(folder, PARTIAL), { mode: 0o700 });
    try {
      await copyEntries(change, top, join(folder, PARTIAL));
    } catch (error) {
      if (!['ENOSPC', 'EDQUOT'].includes(errorCode(error) ?? '')) throw error;
      await rm(join(folder, PARTIAL), { recursive: true, force: true });
      throw new EmbeddedPostgresError(
        `The disk became full while the files in ${change.clusterDir} were copied to another owner. The data is complete; free some space and start again.`,
      );
    }
    await rename(join(folder, PARTIAL), join(folder, COMPLETE));
    await top.sync();
  }
  for (const name of await readdir(join(folder, COMPLETE))) {
    stopIfAborted(change);
    await rm(join(folder, name), { recursive: true, force: true });
    await rename(join(folder, COMPLETE, name), join(folder, name));
  }
  const { uid, gid } = await lstat(join(folder, 'PG_VERSION'));
  await top.sync();
  await top.chown(uid, gid);
  await top.sync();
  await rmdir(join(folder, COMPLETE));
  await top.sync();
  return { uid, gid };
}

async function requireRoom(change: OwnerChange, folder: string): Promise<void> {
  const neededBytes = await surveyBytes(change, folder, (await lstat(`${folder}/.`)).dev);
  const { bavail, bsize } = await statfs(folder);
  if (neededBytes <= bavail * bsize) return;
  const megabytes = (bytes: number) => Math.ceil(bytes / 1e6);
  throw new EmbeddedPostgresError(
    `The files in ${change.clusterDir} have an owner that other programs run as. To give them another one they are copied, which needs ${megabytes(neededBytes)} MB; ${megabytes(bavail * bsize)} MB of the disk are free. Nothing was changed: free some space and start again.`,
  );
}

async function surveyBytes(change: OwnerChange, folder: string, device: number): Promise<number> {
  let bytes = 0;
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const found = await lstat(path);
    if (found.isSocket()) continue;
    requireCopyable(change, name, found, device);
    bytes += found.blocks * 512;
    if (found.isDirectory()) bytes += await surveyBytes(change, path, device);
  }
  return bytes;
}

function requireCopyable(
  { clusterDir, from, to }: OwnerChange,
  name: string,
  found: Stats,
  device: number,
): void {
  const isKnown =
    found.uid === 0
      ? // A file of root that has another name too may be any file.
        found.isDirectory() || found.nlink === 1
      : from.has(found.uid) || found.uid === to.uid;
  const isPlain = found.dev === device && (found.isDirectory() || found.isFile());
  if (isKnown && isPlain && name !== PARTIAL && name !== COMPLETE) return;
  throw new EmbeddedPostgresError(
    `The database in ${clusterDir} has an owner that other programs run as, so its files must be copied to another owner. ${name} in there cannot be: it is not a plain file or directory of that owner and on that disk. Move it away, or change the owner of everything in there yourself.`,
  );
}

/** Once a directory is taken its names stay as they are, so that what was looked at is what is copied. */
async function copyEntries(change: OwnerChange, from: FileHandle, to: string): Promise<void> {
  const { uid, gid } = change.to;
  for (const name of await readdir(pathOf(from))) {
    stopIfAborted(change);
    const [old, copy] = [join(pathOf(from), name), join(to, name)];
    const found = await lstat(old);
    if (found.isSocket()) {
      // Of a server that has ended.
      await rm(old);
      continue;
    }
    if (name === PARTIAL && (await isRootsFolder(old))) continue;
    requireCopyable(change, name, found, (await from.stat()).dev);
    if (found.isDirectory()) {
      await using folder = await openFolder(old);
      await take(folder);
      await mkdir(copy, { mode: 0o700 });
      await copyEntries(change, folder, copy);
    } else {
      await copyFile(old, copy, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    }
    await using made = await open(copy, 'r');
    await made.chmod((await made.stat()).mode & 0o700);
    await made.chown(uid, gid);
    await made.sync();
  }
  await using folder = await openFolder(to);
  await folder.sync();
}

async function take(folder: FileHandle): Promise<void> {
  await folder.chown(0, 0);
  await folder.chmod(0o700);
}

async function isRootsFolder(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  return found?.uid === 0 && found.isDirectory();
}

/** A directory, and not a link to one. */
export function openFolder(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
}

function pathOf(folder: FileHandle): string {
  return `/proc/self/fd/${folder.fd}`;
}

function stopIfAborted({ signal }: OwnerChange): void {
  if (signal.aborted) throw new EmbeddedPostgresError('The start of the database server was cancelled.');
}
