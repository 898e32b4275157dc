import type { RateDecision } from './rate-limiter.ts';

// What a gateway process and the rate keeper say to each other. The process begins with the secret, the keeper with its
// id; after that all messages of a direction have the same length. Answers come in the order of the questions, and a
// `remember` has none.

/** The bytes of the secret, and of the keeper's id. */
export const HELLO_BYTES = 16;
export const QUESTION_BYTES = 21;
export const ANSWER_BYTES = 21;

export type Question =
  | { readonly kind: 'take' | 'peek'; readonly keyId: string; readonly limitRpm: number }
  | { readonly kind: 'remember'; readonly keyId: string; readonly ageMs: number };

const KINDS = ['take', 'peek', 'remember'] as const;
const KEY_BYTES = 16;
// Ages are sent in microseconds.
const PER_MS = 1_000;

/** Writes the question at `offset`. The key's id is a UUID, and the limit has 32 bits. */
export function writeQuestion(bytes: Buffer, offset: number, question: Question): void {
  bytes[offset] = KINDS.indexOf(question.kind);
  bytes.write(question.keyId.replaceAll('-', ''), offset + 1, KEY_BYTES, 'hex');
  const number = question.kind === 'remember' ? Math.floor(question.ageMs * PER_MS) : question.limitRpm;
  bytes.writeUInt32LE(number, offset + 1 + KEY_BYTES);
}

/** The question at `offset`; undefined where there is none that a gateway process would ask. */
export function readQuestion(bytes: Buffer, offset: number): Question | undefined {
  const kind = KINDS[bytes[offset] as number];
  const keyId = bytes.toString('latin1', offset + 1, offset + 1 + KEY_BYTES);
  const number = bytes.readUInt32LE(offset + 1 + KEY_BYTES);
  if (kind === undefined) return undefined;
  return kind === 'remember' ? { kind, keyId, ageMs: number / PER_MS } : { kind, keyId, limitRpm: number };
}

export function writeAnswer(bytes: Buffer, offset: number, decision: RateDecision): void {
  bytes[offset] = decision.isAllowed ? 1 : 0;
  bytes.writeUInt32LE(decision.remaining, offset + 1);
  bytes.writeDoubleLE(decision.resetMs, offset + 5);
  bytes.writeDoubleLE(decision.retryAfterMs, offset + 13);
}

export function readAnswer(bytes: Buffer, offset: number, limit: number): RateDecision {
  return {
    isAllowed: bytes[offset] === 1,
    limit,
    remaining: bytes.readUInt32LE(offset + 1),
    resetMs: bytes.readDoubleLE(offset + 5),
    retryAfterMs: bytes.readDoubleLE(offset + 13),
  };
}

/** Cuts a stream of bytes into messages of one length. */
export class MessageReader {
  #rest: Buffer = Buffer.alloc(0);

  /** The whole messages so far, one after the other; fewer bytes than one message are kept. */
  read(chunk: Buffer, length: number): Buffer {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const whole = bytes.length - (bytes.length % length);
    // A copy: the rest would keep the whole chunk alive.
    this.#rest = Buffer.from(bytes.subarray(whole));
    return bytes.subarray(0, whole);
  }

  /** The first `length` bytes, once they are there. What follows them is the beginning of the next message. */
  readFirst(chunk: Buffer, length: number): { readonly first: Buffer; readonly rest: Buffer } | undefined {
    const bytes = Buffer.concat([this.#rest, chunk]);
    this.#rest = bytes.length < length ? bytes : Buffer.alloc(0);
    return bytes.length < length
      ? undefined
      : { first: bytes.subarray(0, length), rest: bytes.subarray(length) };
  }
}
