import type { ServerResponse } from 'node:http';
import { systemClock, type Timers } from '@gatehouse/concurrency';

// An answer stays in memory until its caller has taken it, and a caller can open any number of connections and read none of
// them. So every answer is written in pieces as its caller takes them, a connection that takes nothing for half a minute is
// closed, and what waits is counted by its owner and in all. An owner beyond its share loses the connections that have taken
// nothing for longest. Where all owners together have too much, the one that has most loses its own: a caller that reads
// has its answer, however many others do not. Guarded by slow-readers.http.test.ts of both listeners.

const STALL_MS = 30_000;
/** Almost every connection takes a piece of this size in that time. */
const PIECE_BYTES = 256 * 1024;
const LIMIT_BYTES = 64 * 1024 * 1024;
const SHARE_BYTES = 16 * 1024 * 1024;

export interface UnreadAnswersOptions {
  /** The bytes of all owners together; a single answer may be larger. */
  readonly limitBytes?: number;
  /** The bytes of one owner; a single answer may be larger. */
  readonly shareBytes?: number;
  readonly timers?: Timers;
}

/** The owner's answers, in the order in which their callers last took something of them. */
interface Owner {
  readonly name: string;
  readonly answers: Set<UnreadAnswer>;
  bytes: number;
}

/** The answers of one process that wait for their callers. */
export class UnreadAnswers {
  readonly timers: Timers;
  readonly #limitBytes: number;
  readonly #shareBytes: number;
  readonly #owners = new Map<string, Owner>();
  #bytes = 0;

  constructor({
    limitBytes = LIMIT_BYTES,
    shareBytes = SHARE_BYTES,
    timers = systemClock,
  }: UnreadAnswersOptions = {}) {
    this.#limitBytes = limitBytes;
    this.#shareBytes = shareBytes;
    this.timers = timers;
  }

  /** The bytes of all owners together. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The caller of this answer has just taken something, and so many bytes of it are in memory now. */
  keep(answer: UnreadAnswer, bytes: number): void {
    const owner = this.#count(answer, bytes);
    for (const other of owner.answers) {
      if (owner.bytes <= this.#shareBytes) break;
      if (other !== answer) this.#close(other);
    }
    while (this.#bytes > this.#limitBytes) {
      const other = this.#longestUnread(answer);
      if (!other) return;
      this.#close(other);
    }
  }

  /** Nothing of this answer waits any more. */
  forget(answer: UnreadAnswer): void {
    const owner = this.#count(answer, 0);
    owner.answers.delete(answer);
    if (owner.answers.size === 0) this.#owners.delete(owner.name);
  }

  #count(answer: UnreadAnswer, bytes: number): Owner {
    const { owner: name } = answer;
    const owner = this.#owners.get(name) ?? { name, answers: new Set(), bytes: 0 };
    this.#owners.set(name, owner);
    owner.bytes += bytes - answer.keptBytes;
    this.#bytes += bytes - answer.keptBytes;
    answer.keptBytes = bytes;
    owner.answers.delete(answer);
    owner.answers.add(answer);
    return owner;
  }

  /** The longest unread answer of the owner that has most, of those that have another than this one. */
  #longestUnread(answer: UnreadAnswer): UnreadAnswer | undefined {
    let most = 0;
    let longest: UnreadAnswer | undefined;
    for (const { answers, bytes } of this.#owners.values()) {
      if (bytes <= most) continue;
      for (const other of answers) {
        if (other === answer) continue;
        most = bytes;
        longest = other;
        break;
      }
    }
    return longest;
  }

  #close(answer: UnreadAnswer): void {
    this.forget(answer);
    answer.close();
  }
}

/** The body of an answer whose head is written. */
export class UnreadAnswer {
  readonly owner: string;
  keptBytes = 0;
  readonly #all: UnreadAnswers;
  readonly #response: ServerResponse;
  #isClosed = false;

  constructor(all: UnreadAnswers, owner: string, response: ServerResponse) {
    this.#all = all;
    this.owner = owner;
    this.#response = response;
  }

  /** True if the connection was closed because its caller took nothing. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /**
   * Resolves when the caller has taken the bytes, or is gone. `keptBytes`: what of the answer is in memory until then, where that
   * is not these bytes alone.
   */
  async write(bytes: Uint8Array, keptBytes = bytes.length): Promise<void> {
    const response = this.#response;
    for (let start = 0; start < bytes.length && !response.destroyed; start += PIECE_BYTES) {
      const piece = bytes.subarray(start, start + PIECE_BYTES);
      if (response.write(piece)) continue;
      const { promise, resolve } = Promise.withResolvers<void>();
      response.once('drain', resolve);
      // TLS makes a copy of what is written.
      const stop = this.#wait(Math.max(keptBytes, piece.length));
      response.once('close', resolve);
      await promise;
      response.off('drain', resolve).off('close', resolve);
      stop();
    }
  }

  /** Ends the answer, with its last bytes where there are some. */
  end(last?: string | Uint8Array): void {
    const response = this.#response;
    if (response.destroyed) return;
    response.end(last);
    if (response.writableLength > 0) this.#wait(response.writableLength);
    else if (this.keptBytes > 0) this.#all.forget(this);
  }

  /** Counts what waits of an answer that was ended elsewhere, which also limits the time for it. */
  countEnded(): void {
    const { writableLength } = this.#response;
    if (writableLength > 0) this.#keep(writableLength);
  }

  close(): void {
    this.#isClosed = true;
    this.#response.destroy();
  }

  #keep(bytes: number): void {
    if (this.keptBytes === 0) this.#response.once('close', () => this.#all.forget(this));
    this.#all.keep(this, bytes);
  }

  /** Returns what ends the time limit. */
  #wait(bytes: number): () => void {
    const cancel = this.#all.timers.after(STALL_MS, () => this.close());
    this.#response.once('close', cancel);
    this.#keep(bytes);
    return () => {
      cancel();
      this.#response.off('close', cancel);
    };
  }
}
