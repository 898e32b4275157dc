import { dirname } from 'node:path';
import type { ServerAddress } from './answer.ts';
import { createCluster, inspectCluster, refuseOtherMajor, removeRemnants } from './cluster.ts';
import { chooseInitLaunch, chooseLaunch, giveTreeTo } from './launch.ts';
import { prepareNativeBinaries } from './native-binaries.ts';
import { readPidFile, removePidFile } from './pid-file.ts';
import type { Place } from './place.ts';
import { identifyProcess, looksLikePostgres } from './processes.ts';
import { EmbeddedPostgresRefused } from './refusal.ts';
import { readOwnerNote, type ServerLock } from './server-lock.ts';
import { openServerLog } from './server-log.ts';
import { awaitReady, retireServer, spawnServer } from './server-process.ts';
import { PORT, prepareSocketDirectory, removeSocket, tidySocketDirectory } from './socket-directory.ts';
import type { SystemTools } from './system-tools.ts';

/** The server that this process runs. One of the two endings must be called. */
export interface OwnServer {
  readonly pid: number;
  readonly address: ServerAddress;
  /** Resolves with how the server ended, in words, and the end of its log. */
  readonly ended: Promise<string>;
  trimLog(): Promise<void>;
  /** Shuts it down in order and waits until nothing of it is left. */
  stop(): Promise<void>;
  /** Lets go of what remains of a server that has ended by itself, so that anybody may start the next one. */
  abandon(): Promise<void>;
}

export interface StartOptions {
  readonly place: Place;
  readonly tools: SystemTools;
  readonly nativeFolder: string;
  /** Whether an empty cluster may be made where there is none. */
  readonly mayCreate: boolean;
  readonly isUnwanted: () => boolean;
}

/** Starts the server under a lock that this takes over: it is released when the start fails, or at the ending. */
export async function startOwnServer(lock: ServerLock, options: StartOptions): Promise<OwnServer> {
  await using opened = new AsyncDisposableStack();
  opened.defer(() => lock.release());
  const { place, tools } = options;
  const cluster = await inspectCluster(place.clusterDir);
  if (!cluster && !options.mayCreate) {
    throw new EmbeddedPostgresRefused(
      `The database in ${place.clusterDir} is gone while it was in use. Put it back, or restart to begin with an empty one.`,
    );
  }
  const native = await prepareNativeBinaries(options.nativeFolder, place.linkFolder);
  const question = {
    folder: dirname(place.clusterDir),
    clusterDir: place.clusterDir,
    dataDirOwner: place.dataDirOwner,
    clusterOwner: cluster?.owner,
    native,
    tools,
  };
  const launch = await chooseLaunch(question);
  await removeRemnants(place.clusterDir, lock);
  if (cluster) {
    refuseOtherMajor(cluster, place.clusterDir, launch.major);
    if (cluster.owner.uid !== launch.owner.uid)
      await giveTreeTo(place.clusterDir, cluster.owner, launch.owner);
  } else {
    const initLaunch = await chooseInitLaunch(question, launch);
    await createCluster(place.clusterDir, native, { server: launch, init: initLaunch }, lock);
  }
  const socketDirectory = await prepareSocketDirectory(
    place.clusterDir,
    launch.owner,
    readOwnerNote(place.lockFile)?.socketDirectory,
  );
  if (lock.exclusive) await clearStaleClaims(place.clusterDir, socketDirectory);
  const log = opened.use(await openServerLog(place.clusterDir, launch.owner));
  const serverPlace = {
    clusterDir: place.clusterDir,
    clusterName: place.clusterName,
    socketDirectory,
    port: PORT,
  };
  const server = await spawnServer(serverPlace, native, launch, lock, log);
  try {
    await awaitReady(server, serverPlace, log, options.isUnwanted);
  } catch (error) {
    await retireServer(server.identity, place);
    throw error;
  }
  const held = opened.move();
  return {
    pid: server.identity.pid,
    address: { host: socketDirectory, port: PORT },
    ended: server.ended.then(
      async (words) => `${words}. The end of its log:\n${await log.tail().catch(() => '')}`,
    ),
    trimLog: () => log.trim(),
    async stop() {
      await retireServer(server.identity, place);
      // Under the lock still, or this could take away what the next server has just made.
      await tidySocketDirectory(place.clusterDir, socketDirectory);
      await held.disposeAsync();
    },
    abandon: () => held.disposeAsync(),
  };
}

/** After a crash the pid in the server's files can be a zombie's or, in a restarted container, that of any process:
 *  PostgreSQL would take it for a running server and refuse. The lock tells that no server of ours is left. */
async function clearStaleClaims(clusterDir: string, socketDirectory: string): Promise<void> {
  const file = await readPidFile(clusterDir);
  // A server that somebody started by hand does not have our lock; PostgreSQL itself will refuse beside it.
  if (file && identifyProcess(file.pid) && looksLikePostgres(file.pid)) return;
  await removePidFile(clusterDir);
  await removeSocket(socketDirectory);
}
