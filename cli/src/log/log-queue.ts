import { write, writeSync } from 'node:fs';

// A pipe takes up to this many bytes atomically (PIPE_BUF). Longer writes of two processes could interleave when the
// reader is slow.
export const MAX_WRITE_BYTES = 4_096;
// When the reader has stopped, lines beyond this are lost.
const MAX_QUEUE_BYTES = 16 * 1024 * 1024;
const RETRY_MS = 50;
// A write takes a thread of the pool, which costs the main thread more than the line does. So after a write that was not
// full, the lines of so many milliseconds share the next one. A first line after a silence is written at once.
const GATHER_MS = 10;
const EXIT_RETRIES = 20;

/** A file descriptor, as far as the queue needs it. */
export interface LogFile {
  write(bytes: Buffer, done: (error: NodeJS.ErrnoException | null, written: number) => void): void;
  writeSync(bytes: Buffer): number;
}

export function logFile(fd: number): LogFile {
  return {
    write: (bytes, done) => write(fd, bytes, 0, bytes.length, null, done),
    writeSync: (bytes) => writeSync(fd, bytes, 0, bytes.length),
  };
}

/**
 * Writes lines in the background, in order, whole lines with each call. A line that cannot be written is lost, and
 * `onError` gets the error. Not pino's destination: with a full disk that one waits for ever when the process exits.
 */
export class LogQueue {
  readonly #file: LogFile;
  readonly #onError: (error: Error) => void;
  readonly #lines: { readonly text: string; readonly bytes: number }[] = [];
  #bytes = 0;
  /** The bytes that are being written. */
  #current: Buffer | undefined;
  #gathering: NodeJS.Timeout | undefined;

  constructor(file: LogFile, onError: (error: Error) => void) {
    this.#file = file;
    this.#onError = onError;
  }

  write(line: string): void {
    const bytes = Buffer.byteLength(line);
    if (this.#bytes + bytes > MAX_QUEUE_BYTES) return;
    this.#lines.push({ text: line, bytes });
    this.#bytes += bytes;
    if (!this.#current && (!this.#gathering || this.#bytes >= MAX_WRITE_BYTES)) this.#next();
  }

  /** Writes what is queued before the process exits, unless the file does not take it within a second. */
  flushAtExit(): void {
    let retries = EXIT_RETRIES;
    for (let rest = this.#current ?? this.#take(); rest; rest = rest.length > 0 ? rest : this.#take()) {
      try {
        rest = rest.subarray(this.#file.writeSync(rest));
      } catch (error) {
        if (!isBusy(error) || retries === 0) return;
        retries -= 1;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
      }
    }
  }

  #next(): void {
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    this.#current = this.#take();
    if (this.#current) this.#writeCurrent(this.#current);
  }

  /** After a write. */
  #gather(): void {
    this.#current = undefined;
    if (this.#bytes >= MAX_WRITE_BYTES) {
      this.#next();
      return;
    }
    this.#gathering = setTimeout(() => this.#next(), GATHER_MS);
    // What it waits for is written when the process exits.
    this.#gathering.unref();
  }

  #writeCurrent(bytes: Buffer): void {
    this.#file.write(bytes, (error, written) => {
      if (isBusy(error)) {
        setTimeout(() => this.#writeCurrent(bytes), RETRY_MS);
        return;
      }
      if (error) this.#onError(error);
      const rest = error ? undefined : bytes.subarray(written);
      if (!rest || rest.length === 0) {
        this.#gather();
        return;
      }
      this.#current = rest;
      this.#writeCurrent(rest);
    });
  }

  /** The next lines that fit into one write: at least one. */
  #take(): Buffer | undefined {
    let count = 0;
    let bytes = 0;
    let text = '';
    for (const line of this.#lines) {
      if (count > 0 && bytes + line.bytes > MAX_WRITE_BYTES) break;
      count += 1;
      bytes += line.bytes;
      text += line.text;
    }
    if (count === 0) return undefined;
    this.#lines.splice(0, count);
    this.#bytes -= bytes;
    return Buffer.from(text);
  }
}

function isBusy(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'EAGAIN' || code === 'EBUSY';
}
