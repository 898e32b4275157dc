import { parseJson } from './answer-json.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const NEWLINE = 0x0a;
const MAX_KEY_BYTES = 256;
const MAX_VALUE_BYTES = 16 * 1024;

/** The position of the byte, from `start` on; the chunk's end where it is not. */
export function positionOf(byte: number, chunk: Buffer, start: number): number {
  const found = chunk.indexOf(byte, start);
  return found === -1 ? chunk.length : found;
}

/**
 * After so many bytes without a mark the next mark is searched for with `indexOf`. That is faster in long text, but to begin a
 * search costs more than to look at a few bytes. Outside of strings it is five searches, one for each mark.
 */
const LONG_QUIET = 256;
const LONG_QUIET_IN_STRING = 8;
const MARKS = [QUOTE, 0x5b, 0x5d, 0x7b, 0x7d] as const;

/** The positions of the quotes and brackets of a chunk. Each is searched for once, however often the next is asked for. */
class Marks {
  readonly #chunk: Buffer;
  readonly #next = MARKS.map(() => -1);

  constructor(chunk: Buffer) {
    this.#chunk = chunk;
  }

  /** The next one, from `start` on; the chunk's end where there is none. */
  next(start: number): number {
    MARKS.forEach((mark, index) => {
      if ((this.#next[index] ?? 0) < start) this.#next[index] = positionOf(mark, this.#chunk, start);
    });
    return Math.min(...this.#next);
  }
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === NEWLINE || byte === 0x0d || byte === 0x09;
}

/**
 * Reads one member of a JSON object out of its bytes as they pass, and keeps nothing else of them: an answer that
 * no caller waits for, or that is too large to be kept, still says at some place what it used. Text that is no
 * JSON gives undefined, or what looks like the member.
 */
export class MemberReader {
  readonly #name: string;
  #depth = 0;
  #hasBegun = false;
  #isInString = false;
  #isEscaped = false;
  #isKey = false;
  #key: Buffer[] = [];
  #keyBytes = 0;
  /** The member's value so far, while it passes. */
  #value: Buffer[] | undefined;
  #valueBytes = 0;
  #found: unknown;
  /** True if the member's value is a list with an object in it. */
  hasObject = false;
  /** The first byte of the value. */
  #opening: number | undefined;

  constructor(name: string) {
    this.#name = name;
  }

  /** The member's value; where it stands more than once, the last. Undefined until it has passed whole. */
  get value(): unknown {
    return this.#found;
  }

  /** True if an object has begun and ended. */
  get isWhole(): boolean {
    return this.#hasBegun && this.#depth === 0;
  }

  push(chunk: Buffer): void {
    let keyStart = this.#isInString && this.#isKey ? 0 : -1;
    let valueStart = this.#value ? 0 : -1;
    // Most of an answer is text, and searches go through it many times faster than this loop.
    let quote = -1;
    let backslash = -1;
    const marks = new Marks(chunk);
    let quietBytes = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      if (this.#isInString) {
        if (quietBytes > LONG_QUIET_IN_STRING) {
          if (quote < at) quote = positionOf(QUOTE, chunk, at);
          if (backslash < at) backslash = positionOf(BACKSLASH, chunk, at);
          at = Math.min(quote, backslash);
        }
      } else if (quietBytes > LONG_QUIET && this.#depth > 1) {
        // What lies deeper is of no interest, and may be an array of a million numbers.
        at = marks.next(at);
      }
      const byte = chunk[at];
      if (this.#isInString) {
        if (this.#isEscaped) {
          this.#isEscaped = false;
        } else if (byte === BACKSLASH) {
          quietBytes = 0;
          this.#isEscaped = true;
        } else if (byte === QUOTE) {
          quietBytes = 0;
          this.#isInString = false;
          if (this.#isKey) this.#addKey(chunk.subarray(keyStart, at));
          keyStart = -1;
        } else {
          quietBytes += 1;
        }
      } else if (byte === QUOTE) {
        quietBytes = 0;
        this.#isInString = true;
        if (this.#isKey) keyStart = at + 1;
      } else if (byte === 0x5b || byte === 0x7b) {
        quietBytes = 0;
        this.#depth += 1;
        if (this.#depth === 1) {
          this.#hasBegun ||= byte === 0x7b;
          this.#expectKey();
        }
      } else if (byte === COLON) {
        if (this.#depth === 1 && this.#isKey) {
          this.#isKey = false;
          if (!this.#isWanted()) continue;
          this.#value = [];
          this.#valueBytes = 0;
          this.#opening = undefined;
          valueStart = at + 1;
        }
      } else if (byte === COMMA || byte === 0x5d || byte === 0x7d) {
        if (this.#depth === 1) {
          if (this.#value) this.#endValue(chunk.subarray(valueStart, at));
          valueStart = -1;
          if (byte === COMMA) this.#expectKey();
        }
        if (byte !== COMMA) this.#depth -= 1;
        quietBytes = byte === COMMA ? quietBytes + 1 : 0;
      } else {
        quietBytes += 1;
      }
    }
    if (keyStart !== -1) this.#addKey(chunk.subarray(keyStart));
    if (valueStart !== -1) this.#addValue(chunk.subarray(valueStart));
  }

  #expectKey(): void {
    this.#isKey = true;
    this.#key = [];
    this.#keyBytes = 0;
  }

  #addKey(part: Buffer): void {
    this.#keyBytes += part.length;
    if (this.#keyBytes <= MAX_KEY_BYTES) this.#key.push(Buffer.from(part));
  }

  #isWanted(): boolean {
    if (this.#keyBytes > MAX_KEY_BYTES) return false;
    return parseJson(`"${Buffer.concat(this.#key).toString()}"`) === this.#name;
  }

  #addValue(part: Buffer): void {
    const mayBeList = this.#opening === undefined || this.#opening === 0x5b;
    if (mayBeList && !this.hasObject) this.#look(part);
    this.#valueBytes += part.length;
    if (this.#valueBytes <= MAX_VALUE_BYTES) this.#value?.push(Buffer.from(part));
  }

  /** Looks for the first mark of the value, and in a list for an object. */
  #look(part: Buffer): void {
    for (const byte of part) {
      if (isBlank(byte)) continue;
      if (this.#opening === undefined) this.#opening = byte;
      else this.hasObject = byte === 0x7b;
      if (this.hasObject || this.#opening !== 0x5b) return;
    }
  }

  #endValue(last: Buffer): void {
    this.#addValue(last);
    const isWhole = this.#valueBytes <= MAX_VALUE_BYTES;
    this.#found = isWhole ? parseJson(Buffer.concat(this.#value ?? []).toString()) : undefined;
    this.#value = undefined;
  }
}
