import { randomUUID } from 'node:crypto';
import { link, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { findDataOwner } from '@gatehouse/embedded';
import { MASTER_KEY_IN_WORDS, MasterKey } from '@gatehouse/store';
import { ConfigError } from '../config/config-error.ts';

/*
 * The master key of an installation that was given none: a file, which its first start makes. A file is written beside
 * its place, forced to the disk, and only then linked into its place, which works for one of several processes and
 * never puts anything in the place of what is there. While the key is rotated the next one lies beside it.
 */

export function masterKeyPaths(dataDir: string): { readonly current: string; readonly next: string } {
  const current = join(resolve(dataDir), 'master.key');
  return { current, next: `${current}.new` };
}

/** The key in the file; undefined when there is no such file. Throws ConfigError for one that holds none. */
export async function readMasterKeyFile(path: string, setting: string): Promise<MasterKey | undefined> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new ConfigError(`${setting} is ${JSON.stringify(path)}, which cannot be read: ${error.message}`);
  });
  if (text === undefined) return undefined;
  const key = MasterKey.fromText(text);
  if (key) return key;
  throw new ConfigError(
    `${setting} is ${JSON.stringify(path)}, which holds something else; expected ${MASTER_KEY_IN_WORDS}`,
  );
}

/** Puts the key into the file, unless one is there. Returns the one that is there in the end. */
export async function placeMasterKey(path: string, key: MasterKey, setting: string): Promise<MasterKey> {
  const draft = `${path}.${randomUUID()}`;
  try {
    const file = await open(draft, 'wx', 0o600);
    try {
      const owner = findDataOwner(dirname(path));
      if (owner) await file.chown(owner.uid, owner.gid);
      await file.writeFile(`${key.reveal()}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await link(draft, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  } catch (error) {
    throw new ConfigError(
      `${setting} is ${JSON.stringify(path)}, where the master key cannot be kept: ${(error as Error).message}`,
    );
  } finally {
    await rm(draft, { force: true });
  }
  await syncDirectory(path);
  const placed = await readMasterKeyFile(path, setting);
  if (!placed) throw new ConfigError(`${path} was removed as soon as it was made`);
  return placed;
}

/** Puts the next key into the place of the one that nothing is under any more. */
export async function replaceMasterKey(dataDir: string): Promise<void> {
  const { current, next } = masterKeyPaths(dataDir);
  await rename(next, current);
  await syncDirectory(current);
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(dirname(path), 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
