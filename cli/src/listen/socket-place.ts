import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, rm, rmdir } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** A path for a socket, in a directory that only this user can enter. Disposing removes what was made for it. */
export interface SocketPlace extends AsyncDisposable {
  readonly path: string;
}

// The kernel's limit for the path of a socket, which is lower than for other files.
const PATH_LIMIT_BYTES = process.platform === 'linux' ? 107 : 103;

/**
 * In `folder` of the data directory or, where that path is too long or the file system has no sockets, in a new directory
 * of the system's temporary one. Sockets that dead processes left in the folder are removed.
 */
export async function openSocketPlace(dataDir: string, folder: string): Promise<SocketPlace> {
  const directory = join(resolve(dataDir), folder);
  const name = `${randomBytes(4).toString('hex')}.sock`;
  const path = join(directory, name);
  if (Buffer.byteLength(path) <= PATH_LIMIT_BYTES && (await prepare(directory)) && (await isUsable(path))) {
    return { path, [Symbol.asyncDispose]: () => rm(path, { force: true }) };
  }
  const temporary = await mkdtemp(join(tmpdir(), 'gatehouse-'));
  return {
    path: join(temporary, name),
    async [Symbol.asyncDispose]() {
      await rm(join(temporary, name), { force: true });
      await rmdir(temporary).catch(() => undefined);
    },
  };
}

/** True if the directory is there, of this user alone, and without the sockets of dead processes. */
async function prepare(directory: string): Promise<boolean> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await chmod(directory, 0o700);
    for (const name of await readdir(directory)) {
      const path = join(directory, name);
      if (name.endsWith('.sock') && (await isAbandoned(path))) await rm(path, { force: true });
    }
    return true;
  } catch {
    return false;
  }
}

async function isAbandoned(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ECONNREFUSED';
  } finally {
    socket.destroy();
  }
}

async function isUsable(path: string): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(path), 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
