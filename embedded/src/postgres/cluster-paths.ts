import { createHash } from 'node:crypto';
import { access, chmod, constants, mkdir, realpath, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { EmbeddedPostgresError, errorCode, messageOf } from './errors.ts';
import type { FileOwner } from './launch.ts';

/** The files of one embedded server. All paths are absolute and free of links, so that every process names the
 *  directory in the same way. */
export interface ClusterPaths {
  readonly dataDir: string;
  readonly dataDirOwner: FileOwner;
  readonly clusterDir: string;
  readonly clusterName: string;
  readonly lockFile: string;
  /** Links to libraries, where the installation is read-only. */
  readonly linkFolder: string;
}

/** Creates the data directory if missing. Throws when it cannot be used. */
export async function prepareClusterPaths(requestedDataDir: string): Promise<ClusterPaths> {
  const dataDir = await prepareDataDir(resolve(requestedDataDir));
  const owner = await stat(dataDir);
  const plain = join(dataDir, 'postgres');
  // The cluster may be a link to another disk.
  const clusterDir = await realpath(plain).catch(() => plain);
  if (/[\n\r]/.test(clusterDir)) {
    throw new EmbeddedPostgresError(
      'The path of the data directory contains a line break, which PostgreSQL cannot store.',
    );
  }
  const hash = createHash('sha256').update(clusterDir).digest('hex');
  return {
    dataDir,
    dataDirOwner: { uid: owner.uid, gid: owner.gid },
    clusterDir,
    clusterName: `gatehouse-${hash.slice(0, 12)}`,
    lockFile: join(dataDir, 'postgres.lock'),
    linkFolder: join(dataDir, 'postgres.lib'),
  };
}

async function prepareDataDir(dataDir: string): Promise<string> {
  try {
    // No mode here: it would also close every missing parent.
    if (await mkdir(dataDir, { recursive: true })) {
      // Root's server runs as another user, who must be able to pass through.
      await chmod(dataDir, process.geteuid?.() === 0 ? 0o711 : 0o700);
    }
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
    return await realpath(dataDir);
  } catch (error) {
    const uid = process.geteuid?.();
    if (['EEXIST', 'ENOTDIR'].includes(errorCode(error) ?? '')) {
      throw new EmbeddedPostgresError(
        `The data directory ${dataDir} is not a directory: ${messageOf(error)}`,
      );
    }
    throw new EmbeddedPostgresError(
      `The data directory ${dataDir} cannot be written by uid ${uid ?? '?'}: ${messageOf(error)}`,
    );
  }
}
