import { once } from 'node:events';
import { lstat, mkdir, mkdtemp, rm, rmdir, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FileOwner, giveTo } from './launch.ts';
import { EmbeddedPostgresRefused, errorCode, reasonOf } from './refusal.ts';

/** The number in the socket's file name; there is no TCP port. */
export const PORT = 5432;

// The kernel's address of a socket is this long and no longer, whatever paths files may have.
const PATH_LIMIT_BYTES = process.platform === 'linux' ? 107 : 103;

/**
 * A directory for the server's socket that admits only `owner`: the server trusts whoever can connect. It lies in the
 * cluster or, where that path is too long for a socket or its file system has none (as some that a container shares
 * with its host), in the system's temporary directory. `earlier` is the one used last time: it is used again where
 * possible, because the pools of processes that live on know that one.
 */
export async function prepareSocketDirectory(
  clusterDir: string,
  owner: FileOwner,
  earlier: string | undefined,
): Promise<string> {
  const own = join(clusterDir, 'socket');
  if (fits(own)) {
    // A restore by copying may have changed its mode. No server is running, so what lies in it is dead.
    if (!(await claim(own, owner))) await rm(own, { recursive: true, force: true });
    if ((await claim(own, owner)) && (await holdsSockets(own))) return own;
  }
  if (earlier && earlier !== own && fits(earlier) && (await claim(earlier, owner))) return earlier;
  // /tmp first: it is the same for every process and every user can enter it, which TMPDIR may not be.
  for (const folder of ['/tmp', tmpdir()]) {
    try {
      const made = await mkdtemp(join(folder, 'gatehouse-'));
      if (fits(made)) {
        await giveTo(made, owner);
        return made;
      }
      await rmdir(made);
    } catch (error) {
      if (!['ENOENT', 'EACCES', 'EROFS', 'ENOTDIR'].includes(errorCode(error) ?? '')) throw error;
    }
  }
  throw new EmbeddedPostgresRefused(
    `The data directory can hold no socket (its path may be too long, the limit being ${PATH_LIMIT_BYTES} bytes), and neither can a temporary directory. Choose another data directory.`,
  );
}

/** Removes the socket of a dead server, and the file that names the server's pid. */
export async function removeSocket(directory: string): Promise<void> {
  const socket = join(directory, `.s.PGSQL.${PORT}`);
  await rm(socket, { force: true });
  await rm(`${socket}.lock`, { force: true });
}

/** Takes away a directory that was made outside the cluster, once the server is gone. */
export async function tidySocketDirectory(clusterDir: string, directory: string): Promise<void> {
  if (directory.startsWith(`${clusterDir}/`)) return;
  await rmdir(directory).catch(() => undefined);
}

function fits(directory: string): boolean {
  return Buffer.byteLength(join(directory, `.s.PGSQL.${PORT}`)) <= PATH_LIMIT_BYTES;
}

async function holdsSockets(directory: string): Promise<boolean> {
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

/** Makes the directory, or checks that what stands there is nobody else's: names in /tmp can be taken by anyone. */
async function claim(directory: string, owner: FileOwner): Promise<boolean> {
  try {
    await mkdir(directory, { mode: 0o700 });
    await giveTo(directory, owner);
    return true;
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') {
      if (errorCode(error) === 'ENOENT' && !(await stat(join(directory, '..')).catch(() => undefined)))
        return false;
      throw new EmbeddedPostgresRefused(`No directory for the database's socket: ${reasonOf(error)}`);
    }
  }
  const found = await lstat(directory);
  return found.isDirectory() && found.uid === owner.uid && (found.mode & 0o077) === 0;
}
