import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { createMutex } from '@gatehouse/concurrency';
import type { Logger } from 'pino';
import type { Backlog } from './backlog.ts';
import type { InstanceDirectory } from './instance-directory.ts';
import { isNotFound, Segment } from './segment.ts';

/**
 * Appends records to the open segment. Records of one turn of the event loop share a write, and so do those that arrive
 * during a write: the cost of a write, which is most of what a record costs the main thread, falls as the load grows. The
 * write is asynchronous although a synchronous one costs a third: a disk that stalls must delay the records, not every
 * stream of the process.
 *
 * A write that fails half-way (a full disk) leaves bytes behind that were never acknowledged: the truncated tail. It is
 * cut off. Where even that fails, the segment is sealed at its acknowledged length, and the next append starts a new
 * one.
 */
export interface SegmentWriterOptions {
  readonly instance: InstanceDirectory;
  readonly backlog: Backlog;
  readonly log: Logger;
  readonly maxSegmentRecords: number;
  readonly maxSegmentBytes: number;
  /** Called after every successful write and every seal. */
  readonly onProgress: () => void;
}

interface Waiting {
  readonly line: string;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface OpenSegment {
  readonly segment: Segment;
  readonly file: FileHandle;
  /** Bytes beyond the acknowledged length could not be cut off. */
  hasTruncatedTail: boolean;
}

export class SegmentWriter {
  readonly #options: SegmentWriterOptions;
  readonly #mutex = createMutex();
  #open: OpenSegment | undefined;
  readonly #waiting: Waiting[] = [];
  /** Lines that were appended, and how many of them were written or rejected, always in that order. */
  #appended = 0;
  #ended = 0;
  #sequence = 0;
  #isClosed = false;

  constructor(options: SegmentWriterOptions) {
    this.#options = options;
  }

  /** Resolves when the line is in the file. */
  append(line: string): Promise<void> {
    if (this.#isClosed) return Promise.reject(new Error('the journal is closed'));
    return new Promise((resolve, reject) => {
      this.#appended += 1;
      this.#waiting.push({ line, resolve, reject });
      // The end of a write is seen a turn later at the earliest, so records of one turn lose nothing by sharing it.
      if (this.#waiting.length === 1) setImmediate(() => void this.#mutex.run(() => this.#writeWaiting()));
    });
  }

  /** Resolves when everything that was appended before has been written or rejected. */
  async drain(): Promise<void> {
    const appended = this.#appended;
    while (this.#ended < appended) await this.#mutex.run(() => this.#writeWaiting());
  }

  /** Closes the open segment, if it holds anything, and returns it. */
  seal(): Promise<Segment | undefined> {
    return this.#mutex.run(() => this.#seal());
  }

  /** Checks that the instance still owns its directory, and goes on in a new one when it does not. */
  confirm(): Promise<void> {
    return this.#mutex.run(() => this.#confirm());
  }

  /** Takes no more appends, and seals what there is. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.drain();
    try {
      await this.seal();
    } finally {
      await this.#open?.file.close();
      this.#open = undefined;
    }
  }

  async #writeWaiting(): Promise<void> {
    // No segment may hold more records than one insert may have rows.
    const room = this.#options.maxSegmentRecords - (this.#open?.segment.records ?? 0);
    const batch = this.#waiting.splice(0, Math.max(room, 1));
    if (batch.length === 0) return;
    if (this.#waiting.length > 0) void this.#mutex.run(() => this.#writeWaiting());
    try {
      await this.#write(batch);
      for (const { resolve } of batch) resolve();
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    this.#ended += batch.length;
    this.#options.onProgress();
  }

  async #write(batch: readonly Waiting[]): Promise<void> {
    const { instance, maxSegmentRecords, maxSegmentBytes } = this.#options;
    // Another process may have taken a long suspended one for dead and recovered its segments.
    if (instance.isConfirmationDue()) await this.#confirm();
    if (this.#open?.segment.isGone) await this.#abandon();
    if (this.#open?.hasTruncatedTail) await this.#cutTail(this.#open);
    this.#open ??= await this.#create().catch(async (error: unknown) => {
      if (!isNotFound(error)) throw error;
      await this.#confirm();
      return this.#create();
    });
    const { segment, file } = this.#open;
    const bytes = Buffer.from(batch.map(({ line }) => line).join(''));
    try {
      await writeFully(file, bytes, segment.length);
    } catch (error) {
      await file.truncate(segment.length).catch(() => {
        if (this.#open) this.#open.hasTruncatedTail = true;
      });
      throw error;
    }
    segment.length += bytes.length;
    segment.records += batch.length;
    if (segment.records < maxSegmentRecords && segment.length < maxSegmentBytes) return;
    // The records are safe whether or not the seal succeeds; a failed one is tried again with the next write.
    await this.#seal().catch((error: unknown) => {
      this.#options.log.error(
        { event: 'journal.seal_failed', err: error },
        'segment seal failed; still appending to it',
      );
    });
  }

  async #cutTail(open: OpenSegment): Promise<void> {
    try {
      await open.file.truncate(open.segment.length);
      open.hasTruncatedTail = false;
    } catch (error) {
      if (!(await this.#seal())) throw error;
    }
  }

  async #create(): Promise<OpenSegment> {
    const { instance, backlog } = this.#options;
    this.#sequence += 1;
    const segment = new Segment({
      directory: instance.path,
      origin: instance.id,
      sequence: this.#sequence,
      records: 0,
      length: 0,
      isOpen: true,
      pendingSinks: ['ledger', 'telemetry'],
    });
    const flags = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY;
    const file = await open(segment.path, flags, 0o600);
    backlog.add(segment);
    return { segment, file, hasTruncatedTail: false };
  }

  async #seal(): Promise<Segment | undefined> {
    if (!this.#open || this.#open.segment.length === 0) return undefined;
    const { segment, file } = this.#open;
    await segment.seal();
    this.#open = undefined;
    await file.close();
    this.#options.onProgress();
    return segment;
  }

  async #confirm(): Promise<void> {
    const { instance, log } = this.#options;
    if (await instance.confirm()) return;
    log.error(
      { event: 'journal.directory_lost', directory: instance.path },
      'journal directory was deleted or recovered by another process; continuing in a new one',
    );
    await this.#abandon();
    await instance.renew();
  }

  async #abandon(): Promise<void> {
    const abandoned = this.#open;
    this.#open = undefined;
    abandoned?.segment.forget();
    await abandoned?.file.close();
  }
}

async function writeFully(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const { bytesWritten } = await file.write(bytes, written, bytes.length - written, position + written);
    if (bytesWritten === 0) throw new Error('the disk accepts no more bytes of the journal');
    written += bytesWritten;
  }
}
