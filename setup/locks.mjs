// Locks of an installation. They are the kernel's (flock), on folders of the project: such a lock ends with the last process that has
// the folder open, however that process ends, also by a reboot; it holds between users and between containers that share the folder;
// and it leaves no file behind. A folder stays the same while `git pull` replaces files in it.
//
// Node cannot call flock. On Linux the program of that name locks a descriptor that it inherits; on macOS `open` has a flag. Where
// neither works, nothing is locked, and an installation goes on without.
import { spawnSync } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { join } from 'node:path';

const MACOS_FLAGS = { shared: 0x10, exclusive: 0x20 };

/** The folder whose lock one installation has while it works. */
export const installing = (root) => join(root, 'setup');

/** The folder whose lock every running service and command shares, and an installation has while it replaces packages. */
const inUse = (root) => join(root, 'cli');

/** The descriptor that holds the lock, or undefined while another process has it. */
export function tryLock(folder, kind) {
  if (process.platform === 'darwin') return tryLockAtOpen(folder, kind);
  const descriptor = openSync(folder, constants.O_RDONLY);
  const { status } = spawnSync('flock', ['-n', kind === 'shared' ? '-s' : '-x', '3'], {
    stdio: ['ignore', 'ignore', 'ignore', descriptor],
  });
  if (status !== 1) return descriptor;
  closeSync(descriptor);
  return undefined;
}

function tryLockAtOpen(folder, kind) {
  try {
    return openSync(folder, constants.O_RDONLY | constants.O_NONBLOCK | MACOS_FLAGS[kind]);
  } catch (error) {
    return error.code === 'EAGAIN' ? undefined : openSync(folder, constants.O_RDONLY);
  }
}

/** Keeps the packages as they are until this process ends. False while an installation replaces them. */
export function usePackages(root) {
  return tryLock(inUse(root), 'shared') !== undefined;
}

/** The lock that is free while nothing runs on the packages; undefined otherwise. */
export function tryReplacePackages(root) {
  return tryLock(inUse(root), 'exclusive');
}
