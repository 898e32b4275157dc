import { statfs } from 'node:fs/promises';
import type { Logger } from 'pino';

export interface DiskRoomOptions {
  readonly directory: string;
  /** Below this the disk counts as nearly full; 0 never looks. */
  readonly minFreeBytes: number;
  readonly log: Logger;
  /** What an unprivileged process may still write; asked of the file system unless given. */
  readonly freeBytes?: (directory: string) => Promise<number>;
}

// So much more than the least must be free again, or a disk at its edge would be told about over and over.
const AGAIN = 1.1;

/**
 * Whether the disk has room for the records of new requests. A request is turned away before its provider is asked, and
 * not when its record can no longer be written: then somebody has been billed for it. What is kept free is for the
 * requests under way, and for the embedded stores, which share the disk.
 */
export class DiskRoom {
  readonly #options: DiskRoomOptions;
  #isEnough = true;

  constructor(options: DiskRoomOptions) {
    this.#options = options;
  }

  get isEnough(): boolean {
    return this.#isEnough;
  }

  async look(): Promise<void> {
    const { directory, minFreeBytes, log, freeBytes = askFileSystem } = this.#options;
    if (minFreeBytes === 0) return;
    const free = await freeBytes(directory);
    const isEnough = free >= (this.#isEnough ? minFreeBytes : minFreeBytes * AGAIN);
    if (isEnough === this.#isEnough) return;
    this.#isEnough = isEnough;
    const fields = { directory, free_bytes: free, min_free_bytes: minFreeBytes };
    if (isEnough) log.info({ event: 'journal.disk_ok', ...fields }, 'the disk has room again');
    else log.error({ event: 'journal.disk_low', ...fields }, 'the disk is nearly full: requests are refused');
  }
}

async function askFileSystem(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}
