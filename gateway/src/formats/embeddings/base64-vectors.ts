import { parseJson } from '../../wire/answer-json.ts';
import { positionOf } from '../../wire/member-reader.ts';

// OpenAI's SDKs ask for base64 where nothing else is said, and take what comes for it. Some servers know only numbers: read as base64, they
// are a vector of a quarter of its length, and no error.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN = 0x5b;
const CLOSE = 0x5d;
const MEMBER = '"embedding"';
/** More than the largest model's vector has, as numbers. Of a longer one the numbers stay. */
const MAX_VECTOR_BYTES = 1024 ** 2;
const NOTHING: Buffer<ArrayBuffer> = Buffer.alloc(0);

/** Writes the vectors of an answer as base64 where they come as numbers, while it passes. All else passes as it is. */
export class Base64Vectors {
  /** The string that is passing, or has passed last: as much of it as the name of the member has. */
  #string = '';
  #isInString = false;
  #isEscaped = false;
  #isVectorNext = false;
  /** The part of a vector that has come, from its bracket on. */
  #vector: Buffer[] | undefined;
  #vectorBytes = 0;

  get keptBytes(): number {
    return this.#vectorBytes;
  }

  push(chunk: Buffer): Buffer {
    const passed: Buffer[] = [];
    let start = 0;
    let quote = -1;
    let backslash = -1;
    for (let at = 0; at < chunk.length; at += 1) {
      if (this.#vector) {
        const end = chunk.indexOf(CLOSE, at);
        at = end === -1 ? chunk.length : end;
        passed.push(this.#add(chunk.subarray(start, at + 1), end !== -1));
        start = at + 1;
        continue;
      }
      if (this.#isInLongString) {
        // Base64, most likely. A search goes through it many times faster than a look at each byte.
        if (quote < at) quote = positionOf(QUOTE, chunk, at);
        if (backslash < at) backslash = positionOf(BACKSLASH, chunk, at);
        at = Math.min(quote, backslash);
        if (at === chunk.length) break;
      }
      if (!this.#beginsVector(chunk[at] as number)) continue;
      passed.push(chunk.subarray(start, at));
      this.#vector = [];
      start = at;
      at -= 1;
    }
    passed.push(chunk.subarray(start));
    return passed.length === 1 ? chunk : Buffer.concat(passed);
  }

  /** The rest of an answer that ends within a vector. */
  end(): Buffer {
    return this.#take();
  }

  get #isInLongString(): boolean {
    return this.#isInString && !this.#isEscaped && this.#string.length > MEMBER.length;
  }

  /** True at the bracket of a vector. */
  #beginsVector(byte: number): boolean {
    if (this.#isInString) {
      if (this.#string.length <= MEMBER.length) this.#string += String.fromCharCode(byte);
      this.#isInString = this.#isEscaped || byte !== QUOTE;
      this.#isEscaped = !this.#isEscaped && byte === BACKSLASH;
      return false;
    }
    if (byte <= 0x20) return false;
    if (this.#isVectorNext && byte === OPEN) {
      this.#isVectorNext = false;
      return true;
    }
    this.#isVectorNext = byte === COLON && this.#string === MEMBER;
    this.#isInString = byte === QUOTE;
    this.#string = this.#isInString ? '"' : '';
    return false;
  }

  #add(part: Buffer, isLast: boolean): Buffer {
    this.#vectorBytes += part.length;
    this.#vector?.push(Buffer.from(part));
    if (this.#vectorBytes > MAX_VECTOR_BYTES) return this.#take();
    if (!isLast) return NOTHING;
    const bytes = this.#take();
    const numbers = parseJson(bytes.toString());
    if (!Array.isArray(numbers) || !numbers.every((one) => typeof one === 'number')) return bytes;
    return Buffer.from(`"${Buffer.from(Float32Array.from(numbers).buffer).toString('base64')}"`);
  }

  #take(): Buffer {
    const bytes = Buffer.concat(this.#vector ?? []);
    this.#vector = undefined;
    this.#vectorBytes = 0;
    return bytes;
  }
}
