import { execFile } from 'node:child_process';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** A small file system of its own, in memory, which can be filled up. */
export interface Disk extends AsyncDisposable {
  /** For a store. */
  readonly directory: string;
  /** Takes all space that is free. What a store frees while this lasts is taken by the next call. */
  fill(): Promise<void>;
  free(): Promise<void>;
}

const run = promisify(execFile);
const FILLER_BYTES = 1024 * 1024;
const LAST_BYTES = 4 * 1024;

/** Mounted below `directory`. */
export async function openDisk(directory: string, mib: number): Promise<Disk> {
  await mkdir(directory, { recursive: true });
  await run('mount', ['-t', 'tmpfs', '-o', `size=${mib}m,mode=755`, 'gatehouse-drill', directory]);
  const filler = join(directory, 'filler');
  return {
    directory: join(directory, 'store'),
    async fill() {
      await using file = await open(filler, 'a');
      for (const bytes of [FILLER_BYTES, LAST_BYTES]) {
        while (await isWritten(file, bytes));
      }
    },
    free: () => rm(filler, { force: true }),
    async [Symbol.asyncDispose]() {
      await run('umount', ['--lazy', directory]);
    },
  };
}

async function isWritten(file: Awaited<ReturnType<typeof open>>, bytes: number): Promise<boolean> {
  try {
    const { bytesWritten } = await file.write(Buffer.alloc(bytes));
    return bytesWritten === bytes;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    return false;
  }
}
