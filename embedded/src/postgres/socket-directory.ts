import { once } from 'node:events';
import { lstat, mkdir, mkdtemp, rm, rmdir, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedPostgresError, errorCode, messageOf } from './errors.ts';
import { chownAsRoot, type FileOwner } from './launch.ts';

/** The number in the socket's file name; there is no TCP port. */
export const PORT = 5432;

// The kernel's limit for the path of a socket, which is lower than for other files.
const PATH_LIMIT_BYTES = process.platform === 'linux' ? 107 : 103;

/**
 * A directory for the server's socket that admits only `owner`: the server trusts every client. It is in the cluster
 * directory or, where that path is too long or the file system has no sockets (as some that a container shares with its
 * host), in the system's temporary directory. `previous` is the one used last: it is used again if possible, because
 * the connection pools of other processes have that address.
 */
export async function prepareSocketDirectory(
  clusterDir: string,
  owner: FileOwner,
  previous: string | undefined,
): Promise<string> {
  const own = join(clusterDir, 'socket');
  if (fits(own)) {
    // A restore by copying may have changed its mode. No server is running, so its content is stale.
    if (!(await claim(own, owner))) await rm(own, { recursive: true, force: true });
    if ((await claim(own, owner)) && (await supportsSockets(own))) return own;
  }
  if (previous && previous !== own && fits(previous) && (await claim(previous, owner))) return previous;
  // /tmp first: it is the same for every process and every user can enter it. TMPDIR may not be.
  for (const folder of ['/tmp', tmpdir()]) {
    try {
      const made = await mkdtemp(join(folder, 'gatehouse-'));
      if (fits(made)) {
        await chownAsRoot(made, owner);
        return made;
      }
      await rmdir(made);
    } catch (error) {
      if (!['ENOENT', 'EACCES', 'EROFS', 'ENOTDIR'].includes(errorCode(error) ?? '')) throw error;
    }
  }
  throw new EmbeddedPostgresError(
    `Neither the data directory nor a temporary directory can hold a socket (the limit of a path is ${PATH_LIMIT_BYTES} bytes). Choose another data directory.`,
  );
}

/** Removes the socket of a dead server, and the file that names the server's pid. */
export async function removeSocket(directory: string): Promise<void> {
  const socket = join(directory, `.s.PGSQL.${PORT}`);
  await rm(socket, { force: true });
  await rm(`${socket}.lock`, { force: true });
}

/** Removes a socket directory outside the cluster, once the server has ended. */
export async function removeSocketDirectory(clusterDir: string, directory: string): Promise<void> {
  if (directory.startsWith(`${clusterDir}/`)) return;
  await rmdir(directory).catch(() => undefined);
}

function fits(directory: string): boolean {
  return Buffer.byteLength(join(directory, `.s.PGSQL.${PORT}`)) <= PATH_LIMIT_BYTES;
}

async function supportsSockets(directory: string): Promise<boolean> {
  const server = createServer();
  const path = join(directory, 'probe');
  try {
    await rm(path, { force: true });
    await once(server.listen(path), 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}

/** Creates the directory, or checks that the existing one belongs to `owner` alone: any user can take a name in /tmp. */
async function claim(directory: string, owner: FileOwner): Promise<boolean> {
  try {
    await mkdir(directory, { mode: 0o700 });
    await chownAsRoot(directory, owner);
    return true;
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') {
      if (errorCode(error) === 'ENOENT' && !(await stat(join(directory, '..')).catch(() => undefined)))
        return false;
      throw new EmbeddedPostgresError(`No directory for the database's socket: ${messageOf(error)}`);
    }
  }
  const found = await lstat(directory);
  return found.isDirectory() && found.uid === owner.uid && (found.mode & 0o077) === 0;
}
