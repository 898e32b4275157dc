import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { identifyProcess, type ProcessIdentity, processState } from '@gatehouse/concurrency';
import { errorCode } from './errors.ts';

interface ProcessRow {
  readonly pid: number;
  readonly parentPid: number;
  readonly command: string;
}

const hasProc = process.platform === 'linux';

/** If start times cannot be read, the process that now has the pid is taken for the same one. */
export function isAlive(identity: ProcessIdentity): boolean {
  return processState(identity) !== 'dead';
}

/** False when the process has already ended. */
export function sendSignal(identity: ProcessIdentity, signal: NodeJS.Signals): boolean {
  if (!isAlive(identity)) return false;
  try {
    return process.kill(identity.pid, signal);
  } catch (error) {
    if (errorCode(error) === 'ESRCH') return false;
    throw error;
  }
}

/**
 * True if the process is a PostgreSQL server on exactly this directory. The command line decides, because every user may read it; a
 * container's root may not read the working directory of another user's process.
 */
export function isServerOn(clusterDir: string, pid: number): boolean {
  return commandOf(pid).includes(`/postgres -D ${clusterDir} `);
}

/** True if the process could be any PostgreSQL server. */
export function looksLikePostgres(pid: number): boolean {
  return /postgres|postmaster/.test(commandOf(pid));
}

/** The names that appear in the command lines of one server's processes and of no others. */
export interface ClusterNames {
  readonly clusterDir: string;
  readonly clusterName: string;
}

/** Every process of the server, including the postmaster. */
export function findServerProcesses(names: ClusterNames): ProcessIdentity[] {
  return listProcesses()
    .filter((row) => isChild(row, names) || row.command.includes(`/postgres -D ${names.clusterDir} `))
    .flatMap((row) => identifyProcess(row.pid) ?? []);
}

/** Processes that outlived their postmaster. A backend deep in a computation does not notice until it is done, and
 *  until then no new server can use the directory. */
export function findOrphanedProcesses(names: ClusterNames): ProcessIdentity[] {
  return listProcesses()
    .filter((row) => isChild(row, names) && !isServerOn(names.clusterDir, row.parentPid))
    .flatMap((row) => identifyProcess(row.pid) ?? []);
}

function isChild(row: ProcessRow, names: ClusterNames): boolean {
  return row.command.startsWith(`postgres: ${names.clusterName}: `);
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
      const parent = /^PPid:\s+(\d+)/m.exec(readProc(pid, 'status') ?? '')?.[1];
      return parent === undefined ? [] : [{ pid, parentPid: Number(parent), command: commandOf(pid) }];
    });
}

function readProc(pid: number, name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return undefined;
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
