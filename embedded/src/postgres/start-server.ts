import { dirname } from 'node:path';
import { identifyProcess } from '@gatehouse/concurrency';
import { type Cluster, createCluster, inspectCluster, removeLeftovers, requireMajor } from './cluster.ts';
import type { ClusterPaths } from './cluster-paths.ts';
import type { ServerAddress } from './connection-check.ts';
import { EmbeddedPostgresError } from './errors.ts';
import { amRoot, chooseInitLaunch, chooseLaunch, type Launch } from './launch.ts';
import { prepareNativeBinaries } from './native-binaries.ts';
import { chownTree, isOwnerChanging, isShared, replaceFiles, takeFromNobody } from './owner-change.ts';
import { readPidFile, removePidFile } from './pid-file.ts';
import { looksLikePostgres } from './processes.ts';
import { readLeaderNote, type ServerLock } from './server-lock.ts';
import { openServerLog } from './server-log.ts';
import { shutDownServer, spawnServer, waitUntilReady } from './server-process.ts';
import { PORT, prepareSocketDirectory, removeSocket, removeSocketDirectory } from './socket-directory.ts';
import type { SystemTools } from './system-tools.ts';

/** The server that this process runs as its leader. Either `stop` or `abandon` must be called. */
export interface RunningServer {
  readonly pid: number;
  readonly address: ServerAddress;
  /** Resolves with how the server ended and the end of its log, for a message. */
  readonly ended: Promise<string>;
  trimLog(): Promise<void>;
  /** Shuts the server down and waits until all its processes have ended. */
  stop(): Promise<void>;
  /** Releases the lock of a server that has ended by itself, so that any process may start the next one. */
  abandon(): Promise<void>;
}

export interface StartOptions {
  readonly paths: ClusterPaths;
  readonly tools: SystemTools;
  readonly nativeFolder: string;
  /** True to create an empty cluster if there is none. */
  readonly mayCreate: boolean;
  /** Aborts the start. */
  readonly signal: AbortSignal;
}

/** Starts the server under `lock`, which is released when the start fails, or with the server. */
export async function startServer(lock: ServerLock, options: StartOptions): Promise<RunningServer> {
  await using opened = new AsyncDisposableStack();
  opened.defer(() => lock.release());
  const { paths, tools } = options;
  await takeFromNobody(paths.dataDir);
  const cluster = await inspectCluster(paths.clusterDir);
  if (!cluster && !options.mayCreate) {
    throw new EmbeddedPostgresError(
      `The database in ${paths.clusterDir} is gone while it was in use. Put it back, or restart to create an empty one.`,
    );
  }
  const native = await prepareNativeBinaries(options.nativeFolder, paths.linkFolder);
  const launchOptions = {
    folder: dirname(paths.clusterDir),
    clusterDir: paths.clusterDir,
    dataDirOwner: paths.dataDirOwner,
    clusterOwner: cluster?.owner,
    native,
    tools,
  };
  const launch = await chooseLaunch(launchOptions);
  await removeLeftovers(paths.clusterDir, lock);
  if (cluster) {
    requireMajor(cluster, paths.clusterDir, launch.major);
    if (amRoot()) await changeOwner(paths.clusterDir, cluster, launch, lock, options.signal);
  } else {
    const initLaunch = await chooseInitLaunch(launchOptions, launch);
    await createCluster(paths.clusterDir, native, { server: launch, init: initLaunch }, lock);
  }
  const socketDirectory = await prepareSocketDirectory(
    paths.clusterDir,
    launch.owner,
    readLeaderNote(paths.lockFile)?.socketDirectory,
  );
  if (lock.exclusive) await removeStaleFiles(paths.clusterDir, socketDirectory);
  const log = opened.use(await openServerLog(paths.clusterDir, launch.owner));
  const location = {
    clusterDir: paths.clusterDir,
    clusterName: paths.clusterName,
    socketDirectory,
    port: PORT,
  };
  const server = await spawnServer(location, native, launch, lock, log);
  try {
    await waitUntilReady(server, location, log, options.signal);
  } catch (error) {
    await shutDownServer(server.identity, paths);
    throw error;
  }
  const resources = opened.move();
  return {
    pid: server.identity.pid,
    address: { host: socketDirectory, port: PORT },
    ended: server.ended.then(
      async (reason) => `${reason}. The end of its log:\n${await log.tail().catch(() => '')}`,
    ),
    trimLog: () => log.trim(),
    async stop() {
      await shutDownServer(server.identity, paths);
      // Still under the lock, or this could remove the directory that the next server has just made.
      await removeSocketDirectory(paths.clusterDir, socketDirectory);
      await resources.disposeAsync();
    },
    abandon: () => resources.disposeAsync(),
  };
}

async function changeOwner(
  clusterDir: string,
  { owner, ownerIds }: Cluster,
  launch: Launch,
  lock: ServerLock,
  signal: AbortSignal,
): Promise<void> {
  const to = launch.owner;
  let found = ownerIds;
  const isMixed = ownerIds.size > 1 || owner.uid !== to.uid;
  const isReachable = isMixed && [...ownerIds].some((uid) => isShared(uid, clusterDir));
  if (isReachable || (await isOwnerChanging(clusterDir))) {
    if (!lock.exclusive || (await isServedByHand(clusterDir))) {
      throw new EmbeddedPostgresError(
        `The files in ${clusterDir} must get another owner than uid ${owner.uid}, and another server may be using them: ${lock.exclusive ? 'stop it' : 'install flock (util-linux), or use a file system that can lock files'}.`,
      );
    }
    found = new Set([(await replaceFiles({ clusterDir, from: ownerIds, to, signal })).uid]);
  }
  for (const uid of found) if (uid !== to.uid) await chownTree(clusterDir, uid, to);
}

/** True if a server that was started by hand, and so does not hold the lock, is on the files. */
async function isServedByHand(clusterDir: string): Promise<boolean> {
  const file = await readPidFile(clusterDir);
  return file !== undefined && identifyProcess(file.pid) !== undefined && looksLikePostgres(file.pid);
}

/** After a crash the pid in the server's files can belong to a zombie or, in a restarted container, to any process.
 *  PostgreSQL would take it for a running server and refuse to start. The lock proves that no embedded server is left. */
async function removeStaleFiles(clusterDir: string, socketDirectory: string): Promise<void> {
  // PostgreSQL itself will refuse to start beside it.
  if (await isServedByHand(clusterDir)) return;
  await removePidFile(clusterDir);
  await removeSocket(socketDirectory);
}
