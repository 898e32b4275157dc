import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { errorCode } from './refusal.ts';

/** One process and no later one that was given the same number. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it began, in clock ticks since boot; undefined where the system has no /proc. */
  readonly startTicks: string | undefined;
}

interface ProcessRow {
  readonly pid: number;
  readonly parentPid: number;
  readonly command: string;
}

const hasProc = process.platform === 'linux';

/** The process now behind a pid. A zombie counts as gone: it holds no file, no memory and no connection, and its
 *  parent may leave it lying about for seconds. */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  if (!hasProc) return acceptsSignals(pid) ? { pid, startTicks: undefined } : undefined;
  const stat = readStat(pid);
  if (!stat || stat.state === 'Z' || stat.state === 'X') return undefined;
  return { pid, startTicks: stat.startTicks };
}

export function isAlive(identity: ProcessIdentity): boolean {
  const now = identifyProcess(identity.pid);
  return now !== undefined && now.startTicks === identity.startTicks;
}

/** False when the process has gone by itself. */
export function sendSignal(identity: ProcessIdentity, signal: NodeJS.Signals): boolean {
  if (!isAlive(identity)) return false;
  try {
    return process.kill(identity.pid, signal);
  } catch (error) {
    if (errorCode(error) === 'ESRCH') return false;
    throw error;
  }
}

/** Whether the process is a PostgreSQL server on exactly this directory. Judged by the command line because every
 *  user may read that, whereas a container's root may not read where a process of another user stands. */
export function isServerOn(clusterDir: string, pid: number): boolean {
  return commandOf(pid).includes(`/postgres -D ${clusterDir} `);
}

/** Whether the process could be any PostgreSQL server at all. */
export function looksLikePostgres(pid: number): boolean {
  return /postgres|postmaster/.test(commandOf(pid));
}

/** By which the processes of one server are told from all others. */
export interface ServerMark {
  readonly clusterDir: string;
  readonly clusterName: string;
}

/** Every process of the server, the postmaster among them. */
export function findServerProcesses(mark: ServerMark): ProcessIdentity[] {
  return listProcesses()
    .filter((row) => isChild(row, mark) || row.command.includes(`/postgres -D ${mark.clusterDir} `))
    .flatMap((row) => identifyProcess(row.pid) ?? []);
}

/** Those that outlived their postmaster: a backend deep in a computation does not notice for as long as that lasts,
 *  and until then no new server can have the directory. */
export function findStrays(mark: ServerMark): ProcessIdentity[] {
  return listProcesses()
    .filter((row) => isChild(row, mark) && !isServerOn(mark.clusterDir, row.parentPid))
    .flatMap((row) => identifyProcess(row.pid) ?? []);
}

function isChild(row: ProcessRow, mark: ServerMark): boolean {
  return row.command.startsWith(`postgres: ${mark.clusterName}: `);
}

function commandOf(pid: number): string {
  if (!hasProc) return ps(['-p', String(pid)])[0]?.command ?? '';
  return readProc(pid, 'cmdline')?.replaceAll('\0', ' ') ?? '';
}

function listProcesses(): ProcessRow[] {
  if (!hasProc) return ps(['-ax']);
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const pid = Number(name);
      const stat = readStat(pid);
      return stat ? [{ pid, parentPid: stat.parentPid, command: commandOf(pid) }] : [];
    });
}

function readStat(pid: number): { state: string; parentPid: number; startTicks: string } | undefined {
  const stat = readProc(pid, 'stat');
  if (!stat) return undefined;
  // The second field is the program's name in brackets and may itself hold brackets and blanks.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { state: fields[0] ?? '', parentPid: Number(fields[1]), startTicks: fields[19] ?? '' };
}

function readProc(pid: number, name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return undefined;
  }
}

function acceptsSignals(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

function ps(selection: readonly string[]): ProcessRow[] {
  try {
    const text = execFileSync('/bin/ps', [...selection, '-ww', '-o', 'pid=,ppid=,command='], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return text.split('\n').flatMap((line) => {
      const match = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line);
      return match ? [{ pid: Number(match[1]), parentPid: Number(match[2]), command: `${match[3]} ` }] : [];
    });
  } catch {
    return [];
  }
}
