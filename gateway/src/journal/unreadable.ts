import { access, constants, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { FORMAT, INSTANCE, readOwner } from './instance-directory.ts';
import { isNotFound, parseSegmentName } from './segment.ts';

/** A segment, or a whole directory of a process, that the gateway cannot ship. */
export interface UnreadableJournal {
  readonly path: string;
  /** One line. */
  readonly reason: string;
}

/** Finds what the user of the journal's directory cannot read in it; root has to look at owners for that. */
export async function listUnreadableJournals(root: string): Promise<UnreadableJournal[]> {
  const user = await userOf(root);
  const found: UnreadableJournal[] = [];
  const look = async (path: string, work: () => Promise<string | undefined>) => {
    try {
      const reason = await work();
      if (reason !== undefined) found.push({ path, reason });
    } catch (error) {
      if (!isNotFound(error)) found.push({ path, reason: (error as Error).message });
    }
  };
  let names: string[] = [];
  await look(root, async () => {
    names = await readdir(root);
    return undefined;
  });
  for (const name of names.filter((one) => INSTANCE.test(one))) {
    const directory = join(root, name);
    await look(directory, async () => {
      const foreign = await foreignOwner(directory, user);
      if (foreign !== undefined) return foreign;
      const owner = await readOwner(directory);
      if (owner && owner.format !== FORMAT) return `another version wrote it (format ${owner.format})`;
      for (const fileName of await readdir(directory)) {
        const path = join(directory, fileName);
        if (parseSegmentName(directory, fileName)) await look(path, () => foreignOwner(path, user));
      }
      return undefined;
    });
  }
  return found;
}

/** For root, the user whose journal it is; undefined where this process has to be able to read it itself. */
async function userOf(root: string): Promise<number | undefined> {
  if (process.geteuid?.() !== 0) return undefined;
  const found = await stat(root).catch(() => undefined);
  return found?.uid || undefined;
}

async function foreignOwner(path: string, user: number | undefined): Promise<string | undefined> {
  if (user === undefined) {
    await access(path, constants.R_OK);
    return undefined;
  }
  const { uid } = await stat(path);
  return uid === user ? undefined : `it belongs to uid ${uid}, and the journal to uid ${user}`;
}
