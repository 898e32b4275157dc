import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readdir, readlink, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const MEMORY = '/dev/shm';
const GIB = 1024 ** 3;
// A run has at most 2 GiB of files at a time.
const MIN_FREE_BYTES = 4 * GIB;
const MIN_MEMORY_BYTES = 8 * GIB;

export interface MemoryDirectoryOptions {
  /** The file system to use: `/dev/shm` unless given. */
  readonly parent?: string;
  /** The memory that processes may still allocate; what this process sees unless given. */
  readonly availableBytes?: number;
}

/**
 * Tests create and drop hundreds of databases, and a file system in memory does that in a fraction of the processor time, with no
 * waiting for a disk. From here on the temporary directory of this process and of those that it starts is in memory, where
 * there is room and programs may run there. A TMPDIR that is set is left alone.
 */
export async function useMemoryDirectory({
  parent = MEMORY,
  availableBytes = process.availableMemory(),
}: MemoryDirectoryOptions = {}): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  if (process.env['TMPDIR'] === undefined && availableBytes >= MIN_MEMORY_BYTES && (await hasRoom(parent))) {
    const space = await processSpace();
    await removeLeftovers(parent, space);
    const directory = await mkdtemp(join(parent, `gh-${space}-${process.pid.toString(36)}-`));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    if (await runsPrograms(directory)) {
      // As /tmp is: a database server that root starts runs as another user.
      await chmod(directory, 0o1777);
      process.env['TMPDIR'] = directory;
      stack.defer(() => {
        delete process.env['TMPDIR'];
      });
    }
  }
  return stack.move();
}

/** Process ids mean something within one of these only; containers may share a file system. Short, as the paths of sockets must be. */
async function processSpace(): Promise<string> {
  const named = await readlink('/proc/self/ns/pid').catch(() => '');
  return Number(named.replaceAll(/\D/g, '')).toString(36);
}

/** A run that was killed left its directory, which is memory. */
async function removeLeftovers(parent: string, space: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const [, owner, pid] = /^gh-(\w+)-(\w+)-/.exec(name) ?? [];
    if (owner !== space || isAlive(Number.parseInt(pid ?? '', 36))) continue;
    // Another user's stays.
    await rm(join(parent, name), { recursive: true, force: true }).catch(() => {});
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

async function hasRoom(parent: string): Promise<boolean> {
  try {
    const { bavail, bsize } = await statfs(parent);
    return bavail * bsize >= MIN_FREE_BYTES;
  } catch {
    return false;
  }
}

/** True if programs may be started from the directory: a container may forbid it. */
async function runsPrograms(directory: string): Promise<boolean> {
  const program = join(directory, 'program');
  await writeFile(program, '#!/bin/sh\n', { mode: 0o700 });
  const ran = await promisify(execFile)(program).then(
    () => true,
    () => false,
  );
  await rm(program);
  return ran;
}
