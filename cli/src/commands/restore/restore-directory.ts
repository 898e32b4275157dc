import { randomBytes } from 'node:crypto';
import { chmod, chown, copyFile, mkdir, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CommandError } from '../../terminal/errors.ts';
import type { Manifest } from '../backup/manifest.ts';

/** Entries that a data directory may contain before a restore: the master key, and what file systems create. */
const MAY_BE_THERE = new Set(['master.key', 'master.key.new', 'lost+found']);
/** PostgreSQL last: without it the data directory counts as empty. */
const PARTS = ['journal', 'clickhouse', 'postgres'] as const;

/**
 * A data directory that is being restored, inside the final one, which may be the root of a file system. Disposing
 * removes what was not published.
 */
export class RestoreDirectory implements AsyncDisposable {
  readonly directory: string;
  readonly #dataDir: string;
  readonly #hasMadeDataDir: boolean;
  #isPublished = false;

  private constructor(dataDir: string, directory: string, hasMadeDataDir: boolean) {
    this.#dataDir = dataDir;
    this.directory = directory;
    this.#hasMadeDataDir = hasMadeDataDir;
  }

  /** Throws CommandError unless the data directory is missing, or contains nothing but a master key. */
  static async create(dataDir: string): Promise<RestoreDirectory> {
    const found = await stat(dataDir).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw new CommandError(
        `DATA_DIR is ${JSON.stringify(dataDir)}, which cannot be looked at: ${error.message}`,
      );
    });
    if (found) await requireEmpty(dataDir, found.isDirectory());
    // Root's PostgreSQL runs as another user, who must be able to pass through.
    const mode = process.geteuid?.() === 0 ? 0o711 : 0o700;
    const directory = join(dataDir, `restoring-${randomBytes(4).toString('hex')}`);
    try {
      if (!found) {
        await mkdir(dirname(dataDir), { recursive: true });
        await mkdir(dataDir, { mode });
      }
      await mkdir(directory, { mode });
    } catch (error) {
      throw new CommandError(
        `DATA_DIR is ${JSON.stringify(dataDir)}, where nothing can be made: ${(error as Error).message}`,
      );
    }
    return new RestoreDirectory(dataDir, directory, !found);
  }

  /** Copies the parts of a backup that need no conversion. */
  async fill(backup: string, { directories, files }: Manifest): Promise<void> {
    const isWanted = (path: string) => /^(postgres|journal)(\/|$)/.test(path);
    for (const path of directories.filter(isWanted)) await mkdir(join(this.directory, path), { mode: 0o700 });
    for (const { path } of files.filter((file) => isWanted(file.path))) {
      await copyAsOurs(join(backup, path), join(this.directory, path));
    }
  }

  /** Moves the restored parts into the data directory. */
  async publish(): Promise<void> {
    for (const part of PARTS) {
      await rename(join(this.directory, part), join(this.#dataDir, part)).catch(
        (error: NodeJS.ErrnoException) => {
          if (part === 'journal' && error.code === 'ENOENT') return;
          throw new CommandError(
            `what was restored could not be put into ${this.#dataDir}: ${error.message} (was a service started there?)`,
          );
        },
      );
    }
    this.#isPublished = true;
    const handle = await open(this.#dataDir, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.directory, { recursive: true, force: true });
    if (this.#hasMadeDataDir && !this.#isPublished) await rmdir(this.#dataDir).catch(() => undefined);
  }
}

/** Node's copy keeps owner and mode, which cannot be trusted in a backup. */
async function copyAsOurs(source: string, path: string): Promise<void> {
  await copyFile(source, path);
  await chmod(path, 0o600);
  if (process.geteuid?.() === 0) await chown(path, 0, process.getegid?.() ?? 0);
}

async function requireEmpty(dataDir: string, isDirectory: boolean): Promise<void> {
  const refusal = `DATA_DIR is ${JSON.stringify(dataDir)}, which`;
  if (!isDirectory) throw new CommandError(`${refusal} is no directory; name one that is empty or new`);
  const unexpected = (await readdir(dataDir)).find((name) => !MAY_BE_THERE.has(name));
  if (unexpected === undefined) return;
  throw new CommandError(
    `${refusal} holds ${JSON.stringify(unexpected)}; a backup is restored into a directory that is empty or new, or holds master.key alone`,
  );
}
