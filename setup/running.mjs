// The processes that run from this folder, by /proc. The lock in locks.mjs shows a running service, too; this names it, and finds one
// of an earlier version, which took no lock.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';

/** The pid of a Node process whose script is a program of this folder, or undefined. Nothing is found where there is no /proc. */
export function runningProcess(root) {
  return processIds().find((pid) => pid !== process.pid && isOf(root, pid));
}

function processIds() {
  try {
    return readdirSync('/proc')
      .filter((name) => /^[0-9]+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

function isOf(root, pid) {
  try {
    const [program, ...args] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    const script = args.find((arg) => arg !== '' && !arg.startsWith('-'));
    if (!/(^|\/)node[^/]*$/.test(program) || !/(^|\/)gatehouse(\.mjs)?$|\.ts$/.test(script)) return false;
    // Programs of setup/ install packages, or wait for that.
    if (/(^|\/)setup\/[^/]+$/.test(script)) return false;
    return placesOf(pid, dirname(script)).some((folder) => isBelow(root, folder));
  } catch {
    // It has ended.
    return false;
  }
}

/** The folder as the process sees it, which may be in a container; and as this process does, where the other is not permitted. */
function placesOf(pid, folder) {
  return isAbsolute(folder)
    ? [join(`/proc/${pid}/root`, folder), folder]
    : [`/proc/${pid}/cwd/${folder === '.' ? '' : folder}`];
}

/** True if the nearest folder with a lockfile is this one: by identity, because a folder may have several names. */
function isBelow(root, folder) {
  const project = ['', '/..', '/../..', '/../../..'].find((up) =>
    existsSync(`${folder}${up}/package-lock.json`),
  );
  if (project === undefined) return false;
  const [found, own] = [statSync(folder + project), statSync(root)];
  return found.dev === own.dev && found.ino === own.ino;
}
