import { readPidFile } from './pid-file.ts';
import type { Place } from './place.ts';
import { identifyProcess, isAlive, isServerOn, type ProcessIdentity } from './processes.ts';
import { readOwnerNote } from './server-lock.ts';

/** A server that is running, or seems to be. */
export interface Sighting {
  readonly pid: number;
  readonly startedAtSeconds: number;
  readonly host: string;
  readonly port: number;
  /** It says so itself; a stale pid file says so too. */
  readonly ready: boolean;
  /** Undefined when the pid is not that of a server on our directory: the file is stale, or the server runs where we
   *  cannot see its process, as in another container. */
  readonly server: ProcessIdentity | undefined;
  /** Undefined when nobody noted it, or noted it for another server. */
  readonly owner: ProcessIdentity | undefined;
}

export async function sightServer(place: Place): Promise<Sighting | undefined> {
  const file = await readPidFile(place.clusterDir);
  if (!file) return undefined;
  const note = readOwnerNote(place.lockFile);
  return {
    pid: file.pid,
    startedAtSeconds: file.startedAtSeconds,
    host: file.socketDirectory,
    port: file.port,
    ready: file.status === 'ready',
    server: isServerOn(place.clusterDir, file.pid) ? identifyProcess(file.pid) : undefined,
    owner: note?.serverPid === file.pid ? note.owner : undefined,
  };
}

export function isOrphaned(sighting: Sighting): boolean {
  return sighting.server !== undefined && sighting.owner !== undefined && !isAlive(sighting.owner);
}
