/** The paths of the embedded engine's data and socket. */
import { createHash } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  realpathSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  chownCommand,
  DataOwnerError,
  findClosedDirectory,
  findDataOwner,
  findUnusable,
} from '../data-owner.ts';
import type { FileOwner } from '../postgres/launch.ts';
import { ENGINE_MAIN } from './engine-process.ts';

/** The bytes that fit into `sun_path` on Linux with its closing NUL (macOS has 4 bytes less). */
const SOCKET_PATH_BYTES = process.platform === 'darwin' ? 103 : 107;

export type EnginePaths = {
  /** The engine's own directory, under lock while it runs. */
  readonly dataDirectory: string;
  readonly socketPath: string;
  /** The user that the engine runs as, where that is not the user of this process. */
  readonly user: FileOwner | undefined;
};

/**
 * Creates `<dataDir>/clickhouse` for this user alone, with the data and the socket in it. If the socket's path is too
 * long for the system, the socket is in a directory of this user under the system's temporary directory, named after
 * the data directory; processes that share a data directory must then have the same TMPDIR.
 *
 * @throws DataOwnerError when it is another user's
 * @throws Error with one sentence for the operator when the directory cannot be used
 */
export function prepareEnginePaths(dataDir: string): EnginePaths {
  const home = join(dataDir, 'clickhouse');
  try {
    const user = findDataOwner(dataDir);
    const unusable = findUnusable(home, 0, dataDir, user);
    if (unusable !== undefined) throw new DataOwnerError(unusable);
    const closed = user && findClosedDirectory(ENGINE_MAIN, user);
    if (closed !== undefined)
      throw new DataOwnerError(
        `${dataDir} belongs to uid ${user?.uid}, who cannot enter ${closed}, where this installation is. Install Gatehouse where that user can read it, or give the data to root: ${chownCommand(dataDir, { uid: 0, gid: 0 })}`,
      );
    mkdirSync(dataDir, { recursive: true });
    makeDirectory(home, user);
    accessSync(home, constants.R_OK | constants.W_OK | constants.X_OK);
    const dataDirectory = join(realpathSync(home), 'data');
    return { dataDirectory, socketPath: chooseSocketPath(realpathSync(home), user), user };
  } catch (error) {
    if (error instanceof DataOwnerError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`The telemetry directory ${home} cannot be used: ${reason}`, { cause: error });
  }
}

// Tables are four levels below the data; the files of a part are made together with its directory.
const PART_DEPTH = 5;

/** The path that the engine's user cannot read or write in the data, as a sentence; undefined when there is nothing. */
export function findUnusableData(dataDir: string, { dataDirectory, user }: EnginePaths): string | undefined {
  return findUnusable(dataDirectory, PART_DEPTH, dataDir, user);
}

function makeDirectory(path: string, user: FileOwner | undefined): void {
  const isNew = !existsSync(path);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  if (user === undefined) chmodSync(path, 0o700);
  else if (isNew) lchownSync(path, user.uid, user.gid);
}

function chooseSocketPath(home: string, user: FileOwner | undefined): string {
  const inside = join(home, 'engine.sock');
  if (Buffer.byteLength(inside) <= SOCKET_PATH_BYTES) return inside;
  const hash = createHash('sha256').update(home).digest('hex').slice(0, 16);
  const directory = join(tmpdir(), `gatehouse-${hash}`);
  if (!existsSync(directory)) makeDirectory(directory, user);
  const { uid, mode } = lstatSync(directory);
  // In a directory that every user can write to, the name may be taken by another user, or be a link.
  const ours =
    (mode & 0o170777) === (constants.S_IFDIR | 0o700) && uid === (user?.uid ?? process.getuid?.() ?? uid);
  if (!ours) throw new Error(`${directory} must be a directory of this user with mode 0700`);
  const outside = join(directory, 'engine.sock');
  if (Buffer.byteLength(outside) > SOCKET_PATH_BYTES) throw new Error(`${outside} is too long for a socket`);
  return outside;
}
