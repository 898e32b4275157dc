import { parseJson } from '../../wire/answer-json.ts';
import { MemberReader } from '../../wire/member-reader.ts';
import type { Redaction } from '../../wire/redaction.ts';
import { errorInstead } from '../peculiarities/error-message.ts';
import { readUsage } from '../peculiarities/usage-names.ts';
import type { StreamReading, Usage } from '../protocol.ts';
import type { Base64Vectors } from './base64-vectors.ts';

// An answer with embeddings on its way to the caller. Two thousand of them are a hundred megabytes as numbers, so they
// are passed on as they come and neither kept nor parsed: the usage and an error are read out of the bytes. Only where the caller asked
// for base64 and numbers come, each vector is kept until it is written as that.
//
// The last bytes are kept back: the answer must be on record before it is complete, and a credential may begin in them.

/** A character of a credential in its longest spelling, `\u00xx`. */
const MAX_SPELLING_LENGTH = 6;
/** More than an error has. */
const MAX_START_BYTES = 16 * 1024;
const WITHOUT_VECTORS = 'answered without an embedding';
const NOTHING: Buffer<ArrayBuffer> = Buffer.alloc(0);

export class EmbeddingsStream implements StreamReading {
  readonly isDone = false;
  readonly hasReasoning = false;
  readonly #usage = new MemberReader('usage');
  readonly #data = new MemberReader('data');
  readonly #redaction: Redaction | undefined;
  readonly #vectors: Base64Vectors | undefined;
  readonly #keptBytes: number;
  #kept = NOTHING;
  /** The bytes before the first vector, which hold the words of a provider that gives none. */
  #start = NOTHING;

  constructor(redaction: Redaction | undefined, vectors: Base64Vectors | undefined) {
    this.#vectors = vectors;
    this.#redaction = redaction;
    this.#keptBytes = 1 + (redaction ? redaction.secret.length * MAX_SPELLING_LENGTH : 0);
  }

  get usage(): Usage | undefined {
    return readUsage(this.#usage.value, false);
  }

  get isUsageFinal(): boolean {
    return this.usage !== undefined;
  }

  /** True once the first vector has begun. */
  get hasContent(): boolean {
    return this.#data.hasObject;
  }

  get isComplete(): boolean {
    return this.#usage.isWhole;
  }

  get upstreamError(): string | null {
    if (this.hasContent || !this.isComplete) return null;
    return errorInstead(undefined, '', parseJson(this.#start.toString())) ?? WITHOUT_VECTORS;
  }

  get keptBytes(): number {
    return this.#kept.length + this.#start.length + (this.#vectors?.keptBytes ?? 0);
  }

  countGenerated(): Promise<number> {
    return Promise.resolve(0);
  }

  push(chunk: Buffer): Buffer {
    this.#usage.push(chunk);
    this.#data.push(chunk);
    if (this.hasContent) this.#start = NOTHING;
    else if (this.#start.length < MAX_START_BYTES)
      this.#start = Buffer.concat([this.#start, chunk.subarray(0, MAX_START_BYTES)]);
    const shown = this.#vectors?.push(chunk) ?? chunk;
    const joined = Buffer.concat([this.#kept, shown]);
    const bytes = this.#redaction?.bytes(joined) ?? joined;
    const end = Math.max(bytes.length - this.#keptBytes, 0);
    this.#kept = Buffer.from(bytes.subarray(end));
    return bytes.subarray(0, end);
  }

  end(): Buffer {
    const last = this.#vectors ? Buffer.concat([this.#kept, this.#vectors.end()]) : this.#kept;
    this.#kept = NOTHING;
    return this.#redaction?.bytes(last) ?? last;
  }
}
