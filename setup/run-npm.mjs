// Runs npm so that it ends with this process, however this one ends. npm leads a process group of its own. A second process of that
// group waits for the end of a pipe that only this process holds, and then kills the group.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { searchPath } from './locks.mjs';

// npm inherits the locks, so that they last as long as it writes; the process that waits does not.
const SCRIPT = `
{ cat; kill -KILL 0; } <&3 >/dev/null 2>&1 4<&- 5<&- &
exec npm "$@" 3<&-
`;

/**
 * Returns why it failed, or undefined.
 * @param {readonly string[]} args
 * @param {{ cwd: string, locks?: readonly (number | 'ignore')[], output?: 'inherit' | 'pipe' }} options at most two locks, of locks.mjs
 */
export async function runNpm(args, { cwd, locks = [], output = 'inherit' }) {
  const child = spawn('sh', ['-c', SCRIPT, 'npm', ...args], {
    cwd,
    // npm is usually beside the Node that runs this, which may have been started by its path.
    env: { ...process.env, PATH: searchPath(dirname(process.execPath)) },
    detached: true,
    stdio: ['ignore', output === 'inherit' ? 'inherit' : 'ignore', output, 'pipe', ...locks],
  });
  let errors = '';
  child.stderr?.on('data', (chunk) => {
    errors += chunk;
  });
  const closed = once(child, 'close');
  const [status, signal] = await Promise.race([once(child, 'exit'), closed]);
  child.stdio[3].destroy();
  await closed;
  if (status === 0) return undefined;
  if (status === 127) return 'npm is not on PATH';
  const end = signal ? `was ended by ${signal}` : `ended with status ${status}`;
  return `npm ${args[0]} ${end}${errors && `\n${errors}`}`;
}

const PARENTS_MS = 250;

/**
 * Ends this process, and with it npm, soon after a process above it has ended that belongs to the same command: its parent, and the
 * npm that started the parent. A signal that kills npm alone reaches nothing below it.
 */
export function endWithParents() {
  const links = [[process.pid, process.ppid]];
  for (let pid = process.ppid; isStartedByNpm(pid); pid = links.at(-1)[1]) links.push([pid, parentOf(pid)]);
  setInterval(() => {
    if (links.some(([pid, parent]) => parentOf(pid) !== parent)) process.exit(1);
  }, PARENTS_MS).unref();
}

/** True if it runs the same script of package.json as this process, by its environment. */
function isStartedByNpm(pid) {
  const { npm_lifecycle_event: script } = process.env;
  try {
    return (
      script !== undefined &&
      readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`npm_lifecycle_event=${script}`)
    );
  } catch {
    return false;
  }
}

function parentOf(pid) {
  if (pid === process.pid) return process.ppid;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return undefined;
  }
}
