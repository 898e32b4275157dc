import { mkdir, open, readdir, readFile, rename, rmdir, stat, unlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProcessMark } from './process-mark.ts';
import { isNotFound, syncDirectory } from './segment.ts';
import type { Timing } from './timing.ts';

/**
 * Each process writes into a directory of its own, named by a fresh uuid, with a file `owner` in it that says
 * which process that is. The file's time is refreshed while the process lives, for those who cannot look the
 * process up. A process that stops in good order and leaves records behind says so in the file, and one that
 * leaves none removes the directory.
 */
export interface Owner extends ProcessMark {
  /** The form of the files beside it. An instance never touches a form it does not know. */
  readonly format: number;
  readonly isReleased: boolean;
}

export const FORMAT = 1;
const OWNER_FILE = 'owner';
const UNFINISHED_OWNER_FILE = 'owner.new';

export interface InstanceDirectoryOptions {
  /** The directory that holds the directories of all instances. */
  readonly root: string;
  readonly mark: ProcessMark;
  readonly timing: Timing;
  readonly newId: () => string;
  /** A write after so long without a sign of life first makes sure that nobody took over. */
  readonly confirmAfterMs: number;
}

export class InstanceDirectory {
  readonly #options: InstanceDirectoryOptions;
  #id = '';
  #confirmedAtMs = 0;

  private constructor(options: InstanceDirectoryOptions) {
    this.#options = options;
  }

  static async create(options: InstanceDirectoryOptions): Promise<InstanceDirectory> {
    const instance = new InstanceDirectory(options);
    await instance.renew();
    return instance;
  }

  get id(): string {
    return this.#id;
  }

  get path(): string {
    return join(this.#options.root, this.#id);
  }

  isConfirmationDue(): boolean {
    return this.#options.timing.now() - this.#confirmedAtMs > this.#options.confirmAfterMs;
  }

  /** Shows that the owner lives; false when the directory is no longer its own. */
  async confirm(): Promise<boolean> {
    const ownerFile = join(this.path, OWNER_FILE);
    try {
      const now = new Date();
      await utimes(ownerFile, now, now);
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
    this.#confirmedAtMs = this.#options.timing.now();
    return true;
  }

  /** Makes a new directory and goes on there. */
  async renew(): Promise<void> {
    const { timing } = this.#options;
    // A process that is suspended before it could say whose the new directory is may find it cleared away.
    this.#id = await this.#make().catch((error: unknown) => {
      if (isNotFound(error)) return this.#make();
      throw error;
    });
    this.#confirmedAtMs = timing.now();
  }

  async #make(): Promise<string> {
    const { root, mark, newId } = this.#options;
    const id = newId();
    await mkdir(root, { recursive: true, mode: 0o700 });
    await mkdir(join(root, id), { mode: 0o700 });
    await writeOwner(join(root, id), { ...mark, format: FORMAT, isReleased: false });
    await syncDirectory(root);
    return id;
  }

  /** Removes the directory, or, where it still holds records, says that its owner is done with it. */
  async release(): Promise<void> {
    await writeOwner(this.path, { ...this.#options.mark, format: FORMAT, isReleased: true });
    await removeIfEmpty(this.path);
  }
}

/** What an instance directory says about its owner; undefined when it says nothing that can be read. */
export async function readOwner(directory: string): Promise<Owner | undefined> {
  const text = await readFile(join(directory, OWNER_FILE), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    const owner: Partial<Owner> = JSON.parse(text);
    if (typeof owner.format !== 'number') return undefined;
    const { pid = 0, startedAt = '', world = '', isReleased = false, format } = owner;
    return { pid, startedAt, world, isReleased, format };
  } catch {
    return undefined;
  }
}

/** Something that changes as long as the directory's owner lives. */
export async function readPulse(directory: string): Promise<string> {
  const { mtimeMs, ino } = await stat(join(directory, OWNER_FILE)).catch(() => stat(directory));
  return `${ino} ${mtimeMs}`;
}

/** Removes an instance directory in which nothing but the owner file is left; does nothing to any other. */
export async function removeIfEmpty(directory: string): Promise<void> {
  try {
    const names = await readdir(directory);
    if (names.some((name) => name !== OWNER_FILE && name !== UNFINISHED_OWNER_FILE)) return;
    for (const name of names) await unlink(join(directory, name));
    await rmdir(directory);
  } catch (error) {
    // Another adopter may be doing the same.
    if (!isNotFound(error)) throw error;
  }
}

async function writeOwner(directory: string, owner: Owner): Promise<void> {
  const temporary = join(directory, UNFINISHED_OWNER_FILE);
  await using file = await open(temporary, 'w', 0o600);
  await file.writeFile(JSON.stringify(owner));
  await file.datasync();
  await rename(temporary, join(directory, OWNER_FILE));
}
