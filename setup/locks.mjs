// Locks of an installation. They are the kernel's (flock), on folders of the project: such a lock ends with the last process that has
// the folder open, however that process ends, also by a reboot; it holds between users and between containers that share the folder;
// and it leaves no file behind. A folder stays the same while `git pull` replaces files in it.
//
// Node cannot call flock. On Linux the program of that name locks a descriptor that it inherits; on macOS `open` has a flag. Where
// neither works, nothing is locked, and an installation goes on without.
import { spawnSync } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const WAIT_MS = 250;
const MACOS_FLAGS = { shared: 0x10, exclusive: 0x20 };

/** PATH for the programs of an installation. That of a service manager, or of a container, may lack the folders of the system. */
export function searchPath(...more) {
  return [process.env.PATH, ...more, '/usr/bin', '/bin'].filter(Boolean).join(delimiter);
}

/** The folder whose lock one installation has while it works. */
export const installing = (root) => join(root, 'setup');

/** The folder whose lock every running service and command shares, and an installation has while it replaces packages. */
const inUse = (root) => join(root, 'cli');

/**
 * The descriptor that holds the lock, `ignore` where nothing can be locked, or undefined while another process has the lock.
 * @param {string} folder
 * @param {'shared' | 'exclusive'} kind
 * @returns {number | 'ignore' | undefined}
 */
export function tryLock(folder, kind) {
  const isMacos = process.platform === 'darwin';
  let descriptor;
  try {
    descriptor = openSync(
      folder,
      isMacos ? constants.O_RDONLY | constants.O_NONBLOCK | MACOS_FLAGS[kind] : constants.O_RDONLY,
    );
  } catch (error) {
    return error.code === 'EAGAIN' ? undefined : 'ignore';
  }
  if (isMacos) return descriptor;
  const { status } = spawnSync('flock', ['-n', kind === 'shared' ? '-s' : '-x', '3'], {
    env: { PATH: searchPath() },
    stdio: ['ignore', 'ignore', 'ignore', descriptor],
  });
  if (status !== 1) return descriptor;
  closeSync(descriptor);
  return undefined;
}

/**
 * The exclusive lock, once the process that has it has ended. It ends with this process and with the npm that it runs.
 * @param {string} folder
 * @param {() => void} onWait
 * @returns {Promise<number | 'ignore'>}
 */
export async function lock(folder, onWait) {
  let descriptor = tryLock(folder, 'exclusive');
  if (descriptor === undefined) onWait();
  while (descriptor === undefined) {
    await delay(WAIT_MS);
    descriptor = tryLock(folder, 'exclusive');
  }
  return descriptor;
}

/** Keeps the packages as they are until this process ends. False while an installation replaces them. */
export function usePackages(root) {
  return tryLock(inUse(root), 'shared') !== undefined;
}

/** The lock that is free while nothing runs on the packages; undefined otherwise. */
export function tryReplacePackages(root) {
  return tryLock(inUse(root), 'exclusive');
}
