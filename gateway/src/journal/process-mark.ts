import { readFile, readlink } from 'node:fs/promises';
import { hostname } from 'node:os';

/**
 * Tells one process from every other, later ones with the same number included. A number and a start time mean
 * something only within one boot of one kernel and one namespace of process numbers: that is the world. A mark
 * from another world (another host on a shared volume, another container, the time before a reboot) proves
 * nothing either way.
 */
export interface ProcessMark {
  readonly pid: number;
  readonly startedAt: string;
  readonly world: string;
}

export type Life = 'alive' | 'dead' | 'unknown';

/** How an instance describes itself and judges others; a test puts its own in place. */
export interface Processes {
  own(): Promise<ProcessMark>;
  lifeOf(mark: ProcessMark): Promise<Life>;
}

const isLinux = process.platform === 'linux';

async function own(): Promise<ProcessMark> {
  if (!isLinux) return { pid: process.pid, startedAt: '', world: hostname() };
  const [stat, boot, namespace] = await Promise.all([
    readStat(process.pid),
    readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => hostname()),
    readlink('/proc/self/ns/pid').catch(() => ''),
  ]);
  return { pid: process.pid, startedAt: stat?.startedAt ?? '', world: `${boot.trim()} ${namespace}` };
}

async function lifeOf(mark: ProcessMark): Promise<Life> {
  const self = await own();
  if (mark.world !== self.world) return 'unknown';
  if (!exists(mark.pid)) return 'dead';
  const stat = await readStat(mark.pid);
  // Without /proc, or with a /proc that hides the processes of others, a living number may be anyone's.
  if (!stat || mark.startedAt === '') return mark.pid === self.pid ? 'alive' : 'unknown';
  // A killed process that nobody has waited for yet keeps its number and start time.
  if (stat.state === 'Z' || stat.state === 'X') return 'dead';
  return stat.startedAt === mark.startedAt ? 'alive' : 'dead';
}

export const systemProcesses: Processes = { own, lifeOf };

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Refused is an answer about a process that exists.
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

async function readStat(pid: number): Promise<{ state: string; startedAt: string } | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  // The second field is the program's name in brackets and may hold anything, so count from the last bracket.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, startedAt] = [fields?.[0], fields?.[19]];
  return state && startedAt ? { state, startedAt } : undefined;
}
