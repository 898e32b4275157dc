import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/**
 * Identifies one process and no later one that gets the same pid. Pid and start time mean something only within one
 * boot of one kernel and one pid namespace: the host scope. About a process of another host scope (another host on a
 * shared volume, another container, before a reboot) nothing can be said.
 */
export interface ProcessIdentity {
  readonly pid: number;
  /** In clock ticks since boot; empty where the system has no /proc. */
  readonly startTicks: string;
  readonly hostScope: string;
}

export type ProcessState = 'alive' | 'dead' | 'unknown';

const hasProc = process.platform === 'linux';

/** The process that now has this pid; undefined where there is none. A zombie counts as none. */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  if (!pidExists(pid)) return undefined;
  const stat = readStat(pid);
  if (stat?.isZombie) return undefined;
  return { pid, startTicks: stat?.startTicks ?? '', hostScope: ownHostScope() };
}

export function ownProcess(): ProcessIdentity {
  return identifyProcess(process.pid) ?? { pid: process.pid, startTicks: '', hostScope: ownHostScope() };
}

/** Unknown for another host scope, and where the start times that would tell two processes apart are missing. */
export function processState({ pid, startTicks, hostScope }: ProcessIdentity): ProcessState {
  if (hostScope !== ownHostScope()) return 'unknown';
  const current = identifyProcess(pid);
  if (!current) return 'dead';
  // A /proc may hide the processes of other users.
  if (startTicks === '' || current.startTicks === '') return pid === process.pid ? 'alive' : 'unknown';
  return current.startTicks === startTicks ? 'alive' : 'dead';
}

let cachedHostScope: string | undefined;

function ownHostScope(): string {
  cachedHostScope ??= hasProc ? readHostScope() : hostname();
  return cachedHostScope;
}

function readHostScope(): string {
  const bootId = read(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')) ?? hostname();
  const pidNamespace = read(() => readlinkSync('/proc/self/ns/pid')) ?? '';
  return `${bootId.trim()} ${pidNamespace}`;
}

function pidExists(pid: number): boolean {
  // 0 and negative numbers are process groups.
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM is the answer about a process of another user; ESRCH and a number beyond the range mean none.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

function readStat(pid: number): { isZombie: boolean; startTicks: string } | undefined {
  if (!hasProc) return undefined;
  const text = read(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  // The second field is the program's name in brackets. It may hold brackets and blanks, so count from the last one.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, startTicks] = [fields?.[0], fields?.[19]];
  // A killed process keeps pid and start time until its parent has collected its exit status.
  return state && startTicks ? { isZombie: state === 'Z' || state === 'X', startTicks } : undefined;
}

function read(source: () => string): string | undefined {
  try {
    return source();
  } catch {
    return undefined;
  }
}
