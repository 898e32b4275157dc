import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { BackupSink } from '@gatehouse/embedded';
import { CommandError } from '../../terminal/errors.ts';
import { MANIFEST, MANIFEST_HASH, type Manifest, sha256 } from './manifest.ts';

const CHUNK_BYTES = 1024 * 1024;

/**
 * A backup that is being made, beside the place where it will be. Everything in it is forced to the disk and hashed as
 * it comes. Disposing of one that was not published removes it.
 */
export class DraftBackup implements BackupSink, AsyncDisposable {
  readonly #target: string;
  readonly #directory: string;
  readonly #directories = new Set<string>();
  readonly #files: Manifest['files'][number][] = [];
  readonly #buffer = Buffer.allocUnsafe(CHUNK_BYTES);

  private constructor(target: string, directory: string) {
    this.#target = target;
    this.#directory = directory;
  }

  /** Throws CommandError unless there is nothing at the target, or an empty directory that can be replaced. */
  static async create(target: string): Promise<DraftBackup> {
    await requireFreePlace(target);
    const parent = dirname(target);
    const directory = `${target}.unfinished-${randomBytes(4).toString('hex')}`;
    try {
      await mkdir(parent, { recursive: true });
      await mkdir(directory, { mode: 0o700 });
    } catch (error) {
      throw new CommandError(`DIR cannot be made: ${(error as Error).message}`);
    }
    return new DraftBackup(target, directory);
  }

  async copy(source: string, path: string): Promise<boolean> {
    let from: FileHandle;
    try {
      // The owner of the source directory could place a link there.
      from = await open(source, constants.O_RDONLY | constants.O_NOFOLLOW);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
      throw error;
    }
    try {
      await this.#create(path, async (append) => {
        for (;;) {
          const { bytesRead } = await from.read(this.#buffer, 0, CHUNK_BYTES, null);
          if (bytesRead === 0) return;
          await append(this.#buffer.subarray(0, bytesRead));
        }
      });
    } finally {
      await from.close();
    }
    return true;
  }

  async write(path: string, content: string | Uint8Array): Promise<void> {
    await this.#create(path, (append) => append(Buffer.from(content)));
  }

  async directory(path: string): Promise<void> {
    if (this.#directories.has(path)) return;
    const parent = dirname(path);
    if (parent !== '.') await this.directory(parent);
    await mkdir(join(this.#directory, path), { mode: 0o700 });
    this.#directories.add(path);
  }

  /** Writes what it holds, and puts it in its place. */
  async publish(about: Omit<Manifest, 'directories' | 'files'>): Promise<{ files: number; bytes: number }> {
    const manifest: Manifest = { ...about, directories: [...this.#directories], files: [...this.#files] };
    const text = `${JSON.stringify(manifest, undefined, 1)}\n`;
    await this.write(MANIFEST, text);
    await this.write(MANIFEST_HASH, `${sha256(text)}\n`);
    for (const path of ['', ...manifest.directories]) await syncDirectory(join(this.#directory, path));
    await rename(this.#directory, this.#target).catch((error: NodeJS.ErrnoException) => {
      throw new CommandError(`the backup could not be put in its place: ${error.message}`);
    });
    await syncDirectory(dirname(this.#target));
    return {
      files: manifest.files.length,
      bytes: manifest.files.reduce((sum, file) => sum + file.bytes, 0),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true });
  }

  async #create(
    path: string,
    fill: (append: (bytes: Buffer) => Promise<void>) => Promise<void>,
  ): Promise<void> {
    const parent = dirname(path);
    if (parent !== '.') await this.directory(parent);
    const hash = createHash('sha256');
    let bytes = 0;
    const to = await open(join(this.#directory, path), 'wx', 0o600);
    try {
      await fill(async (chunk) => {
        hash.update(chunk);
        bytes += chunk.length;
        await to.writeFile(chunk);
      });
      await to.datasync();
    } finally {
      await to.close();
    }
    this.#files.push({ path, bytes, sha256: hash.digest('hex') });
  }
}

async function requireFreePlace(target: string): Promise<void> {
  const found = await stat(target).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new CommandError(`DIR is ${JSON.stringify(target)}, which cannot be looked at: ${error.message}`);
  });
  if (!found) return;
  const refusal = `DIR is ${JSON.stringify(target)}, which`;
  if (!found.isDirectory())
    throw new CommandError(`${refusal} is no directory; name one that is empty or new`);
  if ((await readdir(target)).length > 0)
    throw new CommandError(`${refusal} is not empty; name one that is empty or new`);
  if (found.dev !== (await stat(dirname(resolve(target)))).dev)
    throw new CommandError(
      `${refusal} is the top of a file system and cannot be replaced; name one inside it`,
    );
}

async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
