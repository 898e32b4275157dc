import { statfs } from 'node:fs/promises';
import type { Logger } from 'pino';

export interface DiskRoomOptions {
  readonly directory: string;
  /** Below this the disk counts as nearly full; 0 turns the check off. */
  readonly minFreeBytes: number;
  readonly log: Logger;
  /** The bytes that an unprivileged process may still write; asked of the file system unless given. */
  readonly freeBytes?: (directory: string) => Promise<number>;
}

// Ten percent more must be free again, or a disk at the limit would be logged again and again.
const RESUME_FACTOR = 1.1;

/**
 * True if the disk has room for the records of new requests. A request is rejected before its provider is called, and not when its record
 * can no longer be written: by then the provider has billed it. What is kept free is for the requests in flight and for the embedded
 * stores, which share the disk.
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

  async check(): Promise<void> {
    const { directory, minFreeBytes, log, freeBytes = askFileSystem } = this.#options;
    if (minFreeBytes === 0) return;
    const free = await freeBytes(directory);
    const isEnough = free >= (this.#isEnough ? minFreeBytes : minFreeBytes * RESUME_FACTOR);
    if (isEnough === this.#isEnough) return;
    this.#isEnough = isEnough;
    const fields = { directory, free_bytes: free, min_free_bytes: minFreeBytes };
    if (isEnough)
      log.info({ event: 'journal.disk_ok', ...fields }, 'the disk has room again; accepting requests');
    else log.error({ event: 'journal.disk_low', ...fields }, 'the disk is nearly full; rejecting requests');
  }
}

async function askFileSystem(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}
