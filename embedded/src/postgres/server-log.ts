import { constants } from 'node:fs';
import { type FileHandle, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from './errors.ts';
import type { FileOwner } from './launch.ts';

const SIZE_LIMIT_BYTES = 4 * 1024 * 1024;
const KEPT_BYTES = 256 * 1024;
const TAIL_LINES = 12;

/**
 * The server's own messages, in `server.log` of the cluster; those of the previous start are in `server.log.1`. The
 * server writes to the open file directly, so nothing is lost when this process dies first.
 */
export interface ServerLog extends AsyncDisposable {
  /** For the server to write to. */
  readonly fd: number;
  /** The last lines, for an error message. */
  tail(): Promise<string>;
  /** Keeps only the end of a file that has grown past its limit. */
  trim(): Promise<void>;
}

export async function openServerLog(clusterDir: string, owner: FileOwner): Promise<ServerLog> {
  const path = join(clusterDir, 'server.log');
  await rename(path, `${path}.1`).catch((error: unknown) => {
    if (errorCode(error) !== 'ENOENT') throw error;
  });
  // The directory may belong to a user with fewer rights: a link planted there must not be followed. O_APPEND keeps
  // the server's writes correct after the file is truncated.
  const flags =
    constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW | constants.O_APPEND;
  const file = await open(path, flags, 0o600);
  if (process.geteuid?.() === 0) await file.chown(owner.uid, owner.gid);
  return {
    fd: file.fd,
    async tail() {
      const text = (await readEnd(file, 16 * 1024)).toString();
      return text.trimEnd().split('\n').slice(-TAIL_LINES).join('\n');
    },
    async trim() {
      if ((await file.stat()).size <= SIZE_LIMIT_BYTES) return;
      const end = await readEnd(file, KEPT_BYTES);
      await file.truncate(0);
      await file.write(end);
    },
    async [Symbol.asyncDispose]() {
      await file.close();
    },
  };
}

async function readEnd(file: FileHandle, bytes: number): Promise<Buffer> {
  const { size } = await file.stat();
  const length = Math.min(size, bytes);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
  return buffer.subarray(0, bytesRead);
}
