import { mkdir, open, readdir, readFile, rename, rmdir, stat, unlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { ownProcess, type ProcessIdentity, type ProcessState, processState } from '@gatehouse/concurrency';
import type { JournalClock } from './journal.ts';
import { isNotFound, syncDirectory } from './segment.ts';

/**
 * Each process writes into a directory of its own, named by a new UUID, with a file `owner` in it that identifies the
 * process. The file's time is refreshed while the process lives, for processes that cannot look it up. A process that
 * stops normally and leaves records behind says so in the file; one that leaves none removes the directory.
 */
export interface Owner extends ProcessIdentity {
  /** The format of the files beside it. An instance never touches a format that it does not know. */
  readonly format: number;
  readonly isReleased: boolean;
}

export const FORMAT = 1;

/** How an instance identifies itself and looks up others; a test replaces both. */
export interface Processes {
  own(): ProcessIdentity;
  stateOf(identity: ProcessIdentity): ProcessState;
}

export const systemProcesses: Processes = { own: ownProcess, stateOf: processState };

/** The owner of a directory without a running process, from which any gateway recovers the segments. */
export const RELEASED: Owner = { pid: 0, startTicks: '', hostScope: '', format: FORMAT, isReleased: true };

/** The names of the directories of instances. */
export const INSTANCE = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const OWNER_FILE = 'owner';
const UNFINISHED_OWNER_FILE = 'owner.new';

export interface InstanceDirectoryOptions {
  /** The directory that holds the directories of all instances. */
  readonly root: string;
  readonly identity: ProcessIdentity;
  readonly clock: JournalClock;
  readonly newId: () => string;
  /** After so long without a heartbeat, a write first checks that no other process has recovered the directory. */
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
    return this.#options.clock.monotonicMs() - this.#confirmedAtMs > this.#options.confirmAfterMs;
  }

  /** The heartbeat; false when the directory is no longer its own. */
  async confirm(): Promise<boolean> {
    const ownerFile = join(this.path, OWNER_FILE);
    try {
      const now = new Date();
      await utimes(ownerFile, now, now);
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
    this.#confirmedAtMs = this.#options.clock.monotonicMs();
    return true;
  }

  /** Makes a new directory and goes on there. */
  async renew(): Promise<void> {
    const { clock } = this.#options;
    // A process that was suspended before it could write the owner file may find the directory removed.
    this.#id = await this.#make().catch((error: unknown) => {
      if (isNotFound(error)) return this.#make();
      throw error;
    });
    this.#confirmedAtMs = clock.monotonicMs();
  }

  async #make(): Promise<string> {
    const { root, identity, newId } = this.#options;
    const id = newId();
    await mkdir(root, { recursive: true, mode: 0o700 });
    await mkdir(join(root, id), { mode: 0o700 });
    await writeOwner(join(root, id), { ...identity, format: FORMAT, isReleased: false });
    await syncDirectory(root);
    return id;
  }

  /** Removes the directory or, where it still holds records, marks it as released. */
  async release(): Promise<void> {
    await writeOwner(this.path, { ...this.#options.identity, format: FORMAT, isReleased: true });
    await removeIfEmpty(this.path);
  }
}

/** The owner of an instance directory; undefined when there is no owner file, or a truncated one. */
export async function readOwner(directory: string): Promise<Owner | undefined> {
  const text = await readFile(join(directory, OWNER_FILE), 'utf8').catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  try {
    const stored: Partial<StoredOwner> = JSON.parse(text);
    if (typeof stored.format !== 'number') return undefined;
    const { pid = 0, startedAt = '', world = '', isReleased = false, format } = stored;
    return { pid, startTicks: startedAt, hostScope: world, isReleased, format };
  } catch {
    return undefined;
  }
}

// The members of format 1, as every version writes them.
interface StoredOwner {
  readonly pid: number;
  readonly startedAt: string;
  readonly world: string;
  readonly format: number;
  readonly isReleased: boolean;
}

/** The content of an owner file. */
export function ownerFileContent({ pid, startTicks, hostScope, format, isReleased }: Owner): string {
  const stored: StoredOwner = { pid, startedAt: startTicks, world: hostScope, format, isReleased };
  return JSON.stringify(stored);
}

/** Changes for as long as the directory's owner lives. */
export async function readPulse(directory: string): Promise<string> {
  const { mtimeMs, ino } = await stat(join(directory, OWNER_FILE)).catch(() => stat(directory));
  return `${ino} ${mtimeMs}`;
}

/** Removes an instance directory that holds nothing but its owner file. */
export async function removeIfEmpty(directory: string): Promise<void> {
  try {
    const names = await readdir(directory);
    if (names.some((name) => name !== OWNER_FILE && name !== UNFINISHED_OWNER_FILE)) return;
    for (const name of names) await unlink(join(directory, name));
    await rmdir(directory);
  } catch (error) {
    // Another process may be doing the same.
    if (!isNotFound(error)) throw error;
  }
}

async function writeOwner(directory: string, owner: Owner): Promise<void> {
  const temporary = join(directory, UNFINISHED_OWNER_FILE);
  await using file = await open(temporary, 'w', 0o600);
  await file.writeFile(ownerFileContent(owner));
  await file.datasync();
  await rename(temporary, join(directory, OWNER_FILE));
}
