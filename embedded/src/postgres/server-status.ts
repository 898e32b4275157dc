import { identifyProcess, type ProcessIdentity, processState } from '@gatehouse/concurrency';
import type { ClusterPaths } from './cluster-paths.ts';
import { readPidFile } from './pid-file.ts';
import { isServerOn } from './processes.ts';
import { readLeaderNote } from './server-lock.ts';

/** The findings about a server in the data directory, checked against the processes of this system. */
export interface ServerStatus {
  readonly pid: number;
  readonly startedAtSeconds: number;
  readonly host: string;
  readonly port: number;
  /** As the pid file says. A stale pid file says so too. */
  readonly ready: boolean;
  /** Undefined when no server on this directory has that pid: the file is stale, or the server runs where its process
   *  cannot be seen, as in another container. */
  readonly server: ProcessIdentity | undefined;
  /** Undefined when no leader of this server is recorded. */
  readonly leader: ProcessIdentity | undefined;
}

export async function readServerStatus(paths: ClusterPaths): Promise<ServerStatus | undefined> {
  const file = await readPidFile(paths.clusterDir);
  if (!file) return undefined;
  const note = readLeaderNote(paths.lockFile);
  return {
    pid: file.pid,
    startedAtSeconds: file.startedAtSeconds,
    host: file.socketDirectory,
    port: file.port,
    ready: file.status === 'ready',
    server: isServerOn(paths.clusterDir, file.pid) ? identifyProcess(file.pid) : undefined,
    leader: note?.serverPid === file.pid ? note.leader : undefined,
  };
}

/** True if the server runs on although its leader is dead. */
export function isOrphaned({ server, leader }: ServerStatus): boolean {
  return server !== undefined && leader !== undefined && processState(leader) === 'dead';
}
