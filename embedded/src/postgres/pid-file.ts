import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from './errors.ts';

/** The contents that a running server writes into `postmaster.pid`. */
export interface PidFile {
  readonly pid: number;
  readonly startedAtSeconds: number;
  readonly port: number;
  readonly socketDirectory: string;
  /** `starting`, `ready`, `stopping` or `standby`; empty while the server is still writing the file. */
  readonly status: string;
}

const NAME = 'postmaster.pid';

export async function readPidFile(clusterDir: string): Promise<PidFile | undefined> {
  let text: string;
  try {
    text = await readFile(join(clusterDir, NAME), 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return undefined;
    throw error;
  }
  // Line 2 is the directory, 6 the TCP address, 7 the shared memory; PostgreSQL appends the lines one by one.
  const lines = text.split('\n');
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  return {
    pid,
    startedAtSeconds: Number(lines[2]),
    port: Number(lines[3]),
    socketDirectory: lines[4] ?? '',
    status: (lines[7] ?? '').trim(),
  };
}

/** Only for a holder of the server lock that has checked that the process is not a server. */
export async function removePidFile(clusterDir: string): Promise<void> {
  await rm(join(clusterDir, NAME), { force: true });
}
