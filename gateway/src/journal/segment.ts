import { type FileHandle, open, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { createMutex } from '@gatehouse/concurrency';
import { decodeLines, type Span } from './record-line.ts';
import type { Settlement } from './settle.ts';

/**
 * A segment is one file of records. Its name says everything else about it, so that a file that a crash leaves behind
 * needs no index:
 *
 *   <origin>.<sequence>.open                                        being appended to
 *   <origin>.<sequence>.<records>.<length>.owes-ledger-telemetry    sealed: never changes again
 *   <origin>.<sequence>.<records>.<length>.owes-telemetry           the ledger has it
 *   <origin>.<sequence>.<records>.<length>.owes-ledger              telemetry has it
 *
 * The suffix lists the pending sinks; earlier versions read and write the same names. The origin is the instance that
 * wrote the file and stays the same when another one recovers it. The length is what was acknowledged: bytes beyond it
 * (a write that failed on a full disk and could not be truncated) do not count. Origin, sequence and length name exactly
 * one content for ever, so they are the token by which telemetry recognises a repeat. When no sink is pending any more,
 * the file is deleted.
 *
 * A rename or removal that a power failure undoes does no harm: the ledger counts a request once by its id, and
 * telemetry has seen the token only moments before.
 */
export type Sink = 'ledger' | 'telemetry';

/** The segment's file is not where it was: another instance has recovered it, or a person has deleted it. */
export class SegmentGone extends Error {
  override readonly name = 'SegmentGone';
}

const OPEN = /^([0-9a-f-]{36})\.(\d+)\.open$/;
const SEALED = /^([0-9a-f-]{36})\.(\d+)\.(\d+)\.(\d+)\.owes(-ledger)?(-telemetry)?$/;

export interface SegmentName {
  readonly directory: string;
  readonly origin: string;
  readonly sequence: number;
  readonly records: number;
  readonly length: number;
  readonly isOpen: boolean;
  readonly pendingSinks: Iterable<Sink>;
  /** When it was begun, in ms since the epoch; now unless given. */
  readonly sinceMs?: number;
}

export class Segment {
  readonly directory: string;
  readonly origin: string;
  readonly sequence: number;
  readonly pendingSinks: Set<Sink>;
  /** Acknowledged records and their bytes. */
  records: number;
  length: number;
  isOpen: boolean;
  isGone = false;
  /** The segment was, or may have been, sent to telemetry, which may have stored it although no answer came. */
  wasSent = false;
  /** The offset where the ledger shipper reads on, and the number of records before it. */
  ledgerOffset = 0;
  ledgerRecords = 0;
  /** No record that the ledger lacks is older than this. In ms since the epoch. */
  ledgerSinceMs: number;
  readonly sinceMs: number;
  /** Settlements that the ledger rejects for their content; the segment is kept until it accepts them. */
  readonly rejectedSettlements: { readonly settlement: Settlement; readonly end: number }[] = [];
  readonly #done = Promise.withResolvers<void>();
  readonly #mutex = createMutex();
  #syncedLength = 0;
  #isEntrySynced = false;

  constructor(name: SegmentName) {
    this.directory = name.directory;
    this.origin = name.origin;
    this.sequence = name.sequence;
    this.records = name.records;
    this.length = name.length;
    this.isOpen = name.isOpen;
    this.pendingSinks = new Set(name.pendingSinks);
    this.sinceMs = name.sinceMs ?? Date.now();
    this.ledgerSinceMs = this.sinceMs;
  }

  get fileName(): string {
    const stem = `${this.origin}.${this.sequence}`;
    if (this.isOpen) return `${stem}.open`;
    const sinks = [...this.pendingSinks].sort().map((sink) => `-${sink}`);
    return `${stem}.${this.records}.${this.length}.owes${sinks.join('')}`;
  }

  get path(): string {
    return join(this.directory, this.fileName);
  }

  get token(): string {
    return `${this.origin}.${this.sequence}.${this.length}`;
  }

  /** Resolves when no sink is pending any more. */
  get done(): Promise<void> {
    return this.#done.promise;
  }

  /**
   * The whole lines within `maxBytes` from `offset`, or one line where that is longer. They are forced to the disk
   * first: otherwise a power failure could leave one sink with a record that no longer exists for the other. Throws
   * SegmentGone.
   */
  read(offset: number, maxBytes: number = Number.POSITIVE_INFINITY): Promise<Span> {
    return this.#mutex.run(async () => {
      const until = this.length;
      await using file = await this.#openFile();
      if (this.#syncedLength < until) {
        await file.datasync();
        this.#syncedLength = until;
      }
      if (!this.#isEntrySynced) {
        await syncDirectory(this.directory);
        this.#isEntrySynced = true;
      }
      for (let size = Math.min(maxBytes, until - offset); ; size = Math.min(size * 2, until - offset)) {
        const bytes = await readExactly(file, offset, size);
        const span = await decodeLines(bytes);
        if (size === until - offset) return endingAt(size, span, bytes);
        if (span.wholeBytes > 0) return span;
      }
    });
  }

  /** Closes the segment for good. If the ledger already has all of it, only telemetry is pending. */
  seal(): Promise<void> {
    return this.#mutex.run(async () => {
      const from = this.path;
      const isInLedger = this.ledgerOffset === this.length && this.rejectedSettlements.length === 0;
      this.isOpen = false;
      if (isInLedger) this.pendingSinks.delete('ledger');
      try {
        await rename(from, this.path);
      } catch (error) {
        this.isOpen = true;
        this.pendingSinks.add('ledger');
        throw error;
      }
    });
  }

  /** Notes that a sink has everything, and deletes the file when it was the last one pending. */
  acknowledge(sink: Sink): Promise<void> {
    return this.#mutex.run(async () => {
      // A seal that failed leaves the segment open, and more may come.
      if (this.isOpen) return;
      const from = this.path;
      this.pendingSinks.delete(sink);
      try {
        if (this.pendingSinks.size === 0) await unlink(from);
        else await rename(from, this.path);
      } catch (error) {
        // A missing file counts as deleted.
        if (!isNotFound(error)) {
          this.pendingSinks.add(sink);
          throw error;
        }
      }
      if (this.pendingSinks.size === 0) this.#done.resolve();
    });
  }

  /** Drops the segment, because its file no longer exists. */
  forget(): void {
    this.isGone = true;
    this.pendingSinks.clear();
    this.#done.resolve();
  }

  async #openFile(): Promise<FileHandle> {
    return open(this.path, 'r').catch((error: unknown) => {
      throw isNotFound(error) ? new SegmentGone(`${this.path} is gone`, { cause: error }) : error;
    });
  }
}

/** Reads a file name of an instance directory; undefined when it is not a segment's. */
export function parseSegmentName(directory: string, fileName: string): SegmentName | undefined {
  const open = OPEN.exec(fileName);
  if (open) {
    return {
      directory,
      origin: open[1] ?? '',
      sequence: Number(open[2]),
      records: 0,
      length: 0,
      isOpen: true,
      pendingSinks: ['ledger', 'telemetry'],
    };
  }
  const sealed = SEALED.exec(fileName);
  if (!sealed) return undefined;
  const pendingSinks: Sink[] = [];
  if (sealed[5]) pendingSinks.push('ledger');
  if (sealed[6]) pendingSinks.push('telemetry');
  return {
    directory,
    origin: sealed[1] ?? '',
    sequence: Number(sealed[2]),
    records: Number(sealed[3]),
    length: Number(sealed[4]),
    isOpen: false,
    pendingSinks,
  };
}

// Acknowledged bytes end with a line feed. Where they do not, the disk lost or corrupted the end.
function endingAt(size: number, span: Span, bytes: Buffer): Span {
  if (span.wholeBytes === size) return span;
  return { ...span, wholeBytes: size, damaged: [...span.damaged, bytes.subarray(span.wholeBytes)] };
}

async function readExactly(file: FileHandle, offset: number, size: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(size);
  let filled = 0;
  while (filled < size) {
    const { bytesRead } = await file.read(bytes, filled, size - filled, offset + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

/** Forces the names in a directory to the disk. */
export async function syncDirectory(directory: string): Promise<void> {
  await using handle = await open(directory, 'r');
  await handle.sync();
}

export function isNotFound(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
