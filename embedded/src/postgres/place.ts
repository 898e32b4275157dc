import { createHash } from 'node:crypto';
import { access, chmod, constants, mkdir, realpath, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { FileOwner } from './launch.ts';
import { EmbeddedPostgresRefused, errorCode, reasonOf } from './refusal.ts';

/** Where everything of one embedded server lies. All paths are absolute and free of links, so that every process
 *  names the directory alike. */
export interface Place {
  readonly dataDir: string;
  readonly dataDirOwner: FileOwner;
  readonly clusterDir: string;
  readonly clusterName: string;
  readonly lockFile: string;
  /** For the libraries' links where the installation is read-only. */
  readonly linkFolder: string;
}

/** Makes the data directory when there is none, and refuses one that cannot be used. */
export async function preparePlace(givenDataDir: string): Promise<Place> {
  const dataDir = await prepareDataDir(resolve(givenDataDir));
  const owner = await stat(dataDir);
  const plain = join(dataDir, 'postgres');
  // The cluster may be a link to another disk.
  const clusterDir = await realpath(plain).catch(() => plain);
  if (/[\n\r]/.test(clusterDir)) {
    throw new EmbeddedPostgresRefused(
      'The path of the data directory holds a line break, which PostgreSQL cannot keep.',
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
    // No mode here: with one, every parent that is missing would be closed as well.
    if (await mkdir(dataDir, { recursive: true })) {
      // Root's server runs as another user, who must be able to pass through.
      await chmod(dataDir, process.geteuid?.() === 0 ? 0o711 : 0o700);
    }
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
    return await realpath(dataDir);
  } catch (error) {
    const uid = process.geteuid?.();
    if (['EEXIST', 'ENOTDIR'].includes(errorCode(error) ?? '')) {
      throw new EmbeddedPostgresRefused(
        `The data directory ${dataDir} is not a directory: ${reasonOf(error)}`,
      );
    }
    throw new EmbeddedPostgresRefused(
      `The data directory ${dataDir} cannot be written by uid ${uid ?? '?'}: ${reasonOf(error)}`,
    );
  }
}
