import { readErrorMessage } from '../error-message.ts';
import { MemberReader } from '../member-reader.ts';
import type { StreamReading, Usage } from '../protocol.ts';
import type { Redaction } from '../redaction.ts';
import { readUsage } from './usage.ts';

// An answer with embeddings on its way to the caller. Two thousand of them are a hundred megabytes as numbers, so they
// are passed on as they come and neither kept nor parsed: the usage and an error are read out of the bytes.
//
// The last bytes are kept back: the answer must be on record before it is complete, and a credential may begin in them.

/** A character of a credential in its longest spelling, `\u00xx`. */
const MAX_SPELLING_LENGTH = 6;
const NOTHING: Buffer<ArrayBuffer> = Buffer.alloc(0);

export class EmbeddingsStream implements StreamReading {
  readonly isDone = false;
  readonly hasReasoning = false;
  hasContent = false;
  readonly #usage = new MemberReader('usage');
  readonly #error = new MemberReader('error');
  readonly #redaction: Redaction | undefined;
  readonly #keptBytes: number;
  #kept = NOTHING;

  constructor(redaction: Redaction | undefined) {
    this.#redaction = redaction;
    this.#keptBytes = 1 + (redaction ? redaction.secret.length * MAX_SPELLING_LENGTH : 0);
  }

  get usage(): Usage | undefined {
    return readUsage(this.#usage.value, false);
  }

  get isUsageFinal(): boolean {
    return this.usage !== undefined;
  }

  get isComplete(): boolean {
    return this.#usage.isWhole;
  }

  get upstreamError(): string | null {
    return readErrorMessage({ error: this.#error.value }) ?? null;
  }

  get keptBytes(): number {
    return this.#kept.length;
  }

  countGenerated(): Promise<number> {
    return Promise.resolve(0);
  }

  push(chunk: Buffer): Buffer {
    this.hasContent = true;
    this.#usage.push(chunk);
    this.#error.push(chunk);
    const joined = Buffer.concat([this.#kept, chunk]);
    const bytes = this.#redaction?.bytes(joined) ?? joined;
    const end = Math.max(bytes.length - this.#keptBytes, 0);
    this.#kept = Buffer.from(bytes.subarray(end));
    return bytes.subarray(0, end);
  }

  end(): Buffer {
    const last = this.#kept;
    this.#kept = NOTHING;
    return last;
  }
}
