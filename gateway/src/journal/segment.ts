import { type FileHandle, open, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeLines, type Span } from './record-line.ts';
import { Serial } from './serial.ts';
import type { Settlement } from './settle.ts';

/**
 * A segment is one file of records, and everything that must be known of it stands in its name, so that what
 * a crash leaves behind explains itself:
 *
 *   <origin>.<sequence>.open                                        being appended to
 *   <origin>.<sequence>.<records>.<length>.owes-ledger-telemetry    sealed: never changes again
 *   <origin>.<sequence>.<records>.<length>.owes-telemetry           the ledger has it
 *   <origin>.<sequence>.<records>.<length>.owes-ledger              telemetry has it
 *
 * The origin is the instance that wrote it and stays the same when another adopts the file. The length is what
 * was acknowledged: bytes beyond it (a write that failed on a full disk and could not be cut off) do not count.
 * Origin, sequence and length together name exactly one content for ever, which makes them the token under which
 * telemetry recognises a repeat. When both are paid the file is deleted.
 *
 * A rename or removal that a power failure undoes is harmless: the ledger counts a request once by its id, and
 * telemetry has seen the token only moments before.
 */
export type Creditor = 'ledger' | 'telemetry';

/** The segment's file is not where it was: another instance took it, or someone deleted it. */
export class SegmentGone extends Error {
  override readonly name = 'SegmentGone';
}

const OPEN = /^([0-9a-f-]{36})\.(\d+)\.open$/;
const SEALED = /^([0-9a-f-]{36})\.(\d+)\.(\d+)\.(\d+)\.owes(-ledger)?(-telemetry)?$/;

export interface SegmentParts {
  readonly directory: string;
  readonly origin: string;
  readonly sequence: number;
  readonly records: number;
  readonly length: number;
  readonly isOpen: boolean;
  readonly owes: Iterable<Creditor>;
}

export class Segment {
  readonly directory: string;
  readonly origin: string;
  readonly sequence: number;
  readonly owes: Set<Creditor>;
  /** Acknowledged records and their bytes. */
  records: number;
  length: number;
  isOpen: boolean;
  isGone = false;
  /** Telemetry was offered it, or may have been, and may have stored it although it did not say so. */
  wasOffered = false;
  /** Where the ledger goes on reading, and how many records lie before that. */
  ledgerOffset = 0;
  ledgerRecords = 0;
  /** Settlements that the ledger refuses for what they say; the segment is kept until it takes them. */
  readonly refusedSettlements: Settlement[] = [];
  readonly #settled = Promise.withResolvers<void>();
  readonly #serial = new Serial();
  #syncedLength = 0;
  #isEntrySynced = false;

  constructor(parts: SegmentParts) {
    this.directory = parts.directory;
    this.origin = parts.origin;
    this.sequence = parts.sequence;
    this.records = parts.records;
    this.length = parts.length;
    this.isOpen = parts.isOpen;
    this.owes = new Set(parts.owes);
  }

  get fileName(): string {
    const stem = `${this.origin}.${this.sequence}`;
    if (this.isOpen) return `${stem}.open`;
    const owes = [...this.owes].sort().map((creditor) => `-${creditor}`);
    return `${stem}.${this.records}.${this.length}.owes${owes.join('')}`;
  }

  get path(): string {
    return join(this.directory, this.fileName);
  }

  get token(): string {
    return `${this.origin}.${this.sequence}.${this.length}`;
  }

  /** Resolves when nobody waits for this segment any more. */
  get done(): Promise<void> {
    return this.#settled.promise;
  }

  /**
   * The whole lines within `maxBytes` from `offset`, or one line where that is longer. What it returns has been
   * forced to the disk first, so that a power failure cannot leave one store with a record that we then no
   * longer have for the other. Throws SegmentGone.
   */
  read(offset: number, maxBytes: number = Number.POSITIVE_INFINITY): Promise<Span> {
    return this.#serial.run(async () => {
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

  /** Closes the segment for good. Whatever the ledger has already had is not owed. */
  seal(): Promise<void> {
    return this.#serial.run(async () => {
      const from = this.path;
      const isLedgerPaid = this.ledgerOffset === this.length && this.refusedSettlements.length === 0;
      this.isOpen = false;
      if (isLedgerPaid) this.owes.delete('ledger');
      try {
        await rename(from, this.path);
      } catch (error) {
        this.isOpen = true;
        this.owes.add('ledger');
        throw error;
      }
    });
  }

  /** Notes that a creditor has everything, and deletes the file when it was the last. */
  paid(creditor: Creditor): Promise<void> {
    return this.#serial.run(async () => {
      // A seal that failed leaves the segment open, and then nobody has everything.
      if (this.isOpen) return;
      const from = this.path;
      this.owes.delete(creditor);
      try {
        if (this.owes.size === 0) await unlink(from);
        else await rename(from, this.path);
      } catch (error) {
        // Gone is as good as deleted.
        if (!isNotFound(error)) {
          this.owes.add(creditor);
          throw error;
        }
      }
      if (this.owes.size === 0) this.#settled.resolve();
    });
  }

  /** Waits for the file no more, because it is not there any more. */
  forget(): void {
    this.isGone = true;
    this.owes.clear();
    this.#settled.resolve();
  }

  async #openFile(): Promise<FileHandle> {
    return open(this.path, 'r').catch((error: unknown) => {
      throw isNotFound(error) ? new SegmentGone(`${this.path} is gone`, { cause: error }) : error;
    });
  }
}

/** What a file name in an instance directory says, or undefined when it is not a segment's. */
export function parseSegmentName(directory: string, fileName: string): SegmentParts | undefined {
  const open = OPEN.exec(fileName);
  if (open) {
    return {
      directory,
      origin: open[1] ?? '',
      sequence: Number(open[2]),
      records: 0,
      length: 0,
      isOpen: true,
      owes: ['ledger', 'telemetry'],
    };
  }
  const sealed = SEALED.exec(fileName);
  if (!sealed) return undefined;
  const owes: Creditor[] = [];
  if (sealed[5]) owes.push('ledger');
  if (sealed[6]) owes.push('telemetry');
  return {
    directory,
    origin: sealed[1] ?? '',
    sequence: Number(sealed[2]),
    records: Number(sealed[3]),
    length: Number(sealed[4]),
    isOpen: false,
    owes,
  };
}

// Acknowledged bytes end with a line feed. Where they do not, the disk lost or garbled what comes last.
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
