import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { chownCommand, findDataOwner, findUnusable, locate } from '@gatehouse/embedded';
import { ConfigError } from '../config/config-error.ts';

/**
 * Makes this process, if it is root's, one of the user to whom the data belongs (embedded/src/data-owner.ts): for good,
 * with all that it starts. Returns that user's id; undefined when nothing changed.
 */
export function becomeDataOwner(dataDir: string): number | undefined {
  const owner = findDataOwner(dataDir);
  if (!owner) return undefined;
  const issue = (why: string) =>
    new ConfigError(
      `DATA_DIR is ${JSON.stringify(dataDir)}, which belongs to uid ${owner.uid}, and root ${why}; start as that user, or give the directory to root: ${chownCommand(dataDir, { uid: 0, gid: 0 })}`,
    );
  try {
    joinGroups(owner);
    process.setgid?.(owner.gid);
    process.setuid?.(owner.uid);
  } catch (error) {
    throw issue(`cannot become that user here (${(error as Error).message})`);
  }
  try {
    accessSync(import.meta.filename, constants.R_OK);
    accessSync(process.execPath, constants.X_OK);
  } catch {
    throw issue('writes there as that user, who cannot read this installation');
  }
  return owner.uid;
}

function joinGroups({ uid, gid }: { readonly uid: number; readonly gid: number }): void {
  // The types lack it.
  const { initgroups } = process as { initgroups?: (user: number, group: number) => void };
  try {
    initgroups?.(uid, gid);
  } catch (error) {
    // A user without a name is in no other group.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_UNKNOWN_CREDENTIAL') throw error;
    process.setgroups?.([gid]);
  }
}

/** The first part of an existing data directory that this process would use and may not, as an issue of DATA_DIR. */
export function unusableParts(
  dataDir: string,
  { databaseUrl, clickhouseUrl }: { readonly databaseUrl?: unknown; readonly clickhouseUrl?: unknown },
): string[] {
  const names = ['.', 'master.key', 'master.key.new', 'journal', 'rates'];
  if (databaseUrl === undefined) names.push('postgres', 'postgres.lock');
  if (clickhouseUrl === undefined) names.push('clickhouse');
  return names
    .flatMap((name) => findUnusable(join(locate(dataDir), name), 0, dataDir) ?? [])
    .slice(0, 1)
    .map((sentence) => `DATA_DIR is ${JSON.stringify(dataDir)}; ${sentence}`);
}
