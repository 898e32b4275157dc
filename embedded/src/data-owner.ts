import { accessSync, constants, lstatSync, readdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { amRoot, type FileOwner, NOBODY } from './postgres/launch.ts';

/*
 * The user who writes in a data directory. One start as root in the directory of an ordinary user would leave files that
 * this user can never open again: the engine's status file, the journal of a killed gateway. So root writes there as the
 * user to whom the files in it belong.
 *
 * The parts that this process would write decide, because the directory itself may be a volume of another user. Where
 * they are root's, root has always run the service. Where there are none yet, the directory decides, or the one that it
 * will be made in. A directory of `nobody` gets no files of `nobody`: other programs run as that.
 */

/** The data directory belongs to another user. The message names the owner, and the command that changes it. */
export class DataOwnerError extends Error {
  override readonly name = 'DataOwnerError';
}

// The parts of PostgreSQL are not among them: its user is chosen by itself (postgres/launch.ts).
const PARTS = ['master.key', 'journal', 'clickhouse'];

/** The user as whom root has to write; undefined for the user of this process. Throws DataOwnerError where the parts
 *  belong to several. */
export function findDataOwner(dataDir: string): FileOwner | undefined {
  if (!amRoot()) return undefined;
  const parts = PARTS.flatMap((name) => {
    const path = join(resolve(dataDir), name);
    const found = statSync(path, { throwIfNoEntry: false });
    return found ? [{ path, uid: found.uid, gid: found.gid }] : [];
  });
  const [first] = parts;
  const owner = first ?? ownerOfDirectory(resolve(dataDir));
  const other = parts.find(({ uid }) => uid !== owner.uid);
  if (first && other) {
    const ordinary = first.uid === 0 ? other : first;
    throw new DataOwnerError(
      `${first.path} belongs to ${userInWords(first.uid)}, and ${other.path} to ${userInWords(other.uid)}. ${giveTo(dataDir, ordinary)}`,
    );
  }
  if (owner.uid === 0 || (!first && owner.uid === NOBODY.uid)) return undefined;
  return { uid: owner.uid, gid: owner.gid };
}

/** The first directory on the way to `path` that `user` may not enter; undefined where there is none. Reads modes, no ACLs. */
export function findClosedDirectory(path: string, { uid, gid }: FileOwner): string | undefined {
  const directory = dirname(path);
  const closed = directory === path ? undefined : findClosedDirectory(directory, { uid, gid });
  if (closed !== undefined) return closed;
  const found = statSync(directory);
  const mayEnter = found.uid === uid ? 0o100 : found.gid === gid ? 0o010 : 0o001;
  return (found.mode & mayEnter) === 0 ? directory : undefined;
}

function ownerOfDirectory(path: string): FileOwner {
  return statSync(path, { throwIfNoEntry: false }) ?? ownerOfDirectory(dirname(path));
}

/**
 * A sentence about the first entry that `user`, or this process, cannot read and write; undefined when there is none.
 * Looks `depth` levels below the path, and follows no link.
 */
export function findUnusable(
  path: string,
  depth: number,
  dataDir: string,
  user?: FileOwner,
): string | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found || found.isSymbolicLink()) return undefined;
  if (!isUsable(path, found, user)) {
    const self = user ?? { uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 };
    return found.uid === self.uid
      ? `${path} is closed to its owner. Open it: chmod -R u+rwX ${shellWord(locate(dataDir))}`
      : `${path} belongs to ${userInWords(found.uid)}, and this runs as ${userInWords(self.uid)}. ${giveTo(dataDir, self)}`;
  }
  if (depth === 0 || !found.isDirectory()) return undefined;
  for (const name of namesIn(path)) {
    const sentence = findUnusable(join(path, name), depth - 1, dataDir, user);
    if (sentence !== undefined) return sentence;
  }
  return undefined;
}

// A running engine removes directories meanwhile.
function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function isUsable(path: string, found: Stats, user: FileOwner | undefined): boolean {
  // Root can open everything, so the owner tells what the user can.
  if (user) return found.uid === user.uid;
  try {
    accessSync(path, constants.R_OK | constants.W_OK | (found.isDirectory() ? constants.X_OK : 0));
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

function giveTo(dataDir: string, user: FileOwner): string {
  return `Run as the owner, or give all of it to one user: sudo ${chownCommand(dataDir, user)}`;
}

/** The command that gives a data directory to a user. */
export function chownCommand(dataDir: string, { uid, gid }: FileOwner): string {
  return `chown -R ${uid}:${gid} ${shellWord(locate(dataDir))}`;
}

/** The real path of a data directory, behind all links: chown and chmod go through none that they are given. */
export function locate(dataDir: string): string {
  try {
    return realpathSync(dataDir);
  } catch {
    // It is still to be made.
    return resolve(dataDir);
  }
}

function userInWords(uid: number): string {
  return uid === 0 ? 'root' : `uid ${uid}`;
}

function shellWord(path: string): string {
  return /^[\w./@%+=:,-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
