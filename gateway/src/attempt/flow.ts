import { freeMemory } from '@gatehouse/http/free-memory';
import { SMALL_BODY_BYTES } from '../bodies/held-body.ts';
import { intake, type Source } from '../bodies/intake.ts';
import { KeptBytes } from '../bodies/kept-bytes.ts';
import type { Dependencies } from '../context/dependencies.ts';
import { limitWait } from '../exchange/answers.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { UpstreamCall } from '../providers/upstream.ts';

// Memory is free again when a slow caller has taken its answer, or was disconnected.
const RETRY_MS = 100;
export const MAX_WAIT_MS = 30_000;
// How long a provider may take to end a stream whose end mark it has sent.
const LINGER_MS = 1_000;

// A caller that is slower than the provider: so much waits for it before the provider's connection is paused, since each
// pause copies what that connection has buffered.
const WAITING_BYTES = 256 * 1024;
// Each answer has a leaky bucket of what it costs the main thread: it leaks more than any model costs, and only what overflows
// is counted with the request bodies. The events of a stream are parsed, what is read whole is kept and moved to a reader
// thread, vectors are only looked through, and each packet has a cost of its own.
export const LEAK_PER_MS = (4 * 1024 ** 2) / 1_000;
const PACKET_COST = 4 * 1024;
export const COSTS = {
  events: { ofByte: 16, burst: 1024 ** 2 },
  whole: { ofByte: 2, burst: 1024 ** 2 },
  vectors: { ofByte: 2, burst: 5 * 1024 ** 2 },
} as const;

/** How the bytes of an answer are processed. */
export type AnswerKind = keyof typeof COSTS;

type PauseReason = 'caller' | 'room' | 'intake';

export interface FlowOptions {
  readonly exchange: Exchange;
  /** The organisation that the memory and the main thread's time are counted for. */
  readonly owner: string;
  readonly dependencies: Pick<Dependencies, 'clock' | 'timers' | 'bodies'>;
  /** The bytes of the answer in memory at this moment, beside what waits for the caller. */
  readonly keptBytes: () => number;
  /** There was no memory for it within the time limit. */
  readonly onNoRoom: () => void;
}

/**
 * Paces an answer: by its caller, by the memory budget that all answers share, and by what it costs the main thread. In
 * the end it releases the provider's connection.
 */
export class Flow implements Source {
  readonly #options: FlowOptions;
  readonly #kept: KeptBytes;
  readonly #pauses = new Set<PauseReason>();
  #upstreamCall: UpstreamCall | undefined;
  #cancelWait: () => void = () => {};
  #cancelRetry: (() => void) | undefined;
  #isUpstreamFinished = false;
  #isEnded = false;
  #cancelLinger: () => void = () => {};
  /** A whole answer that waits for the caller, where it is large. */
  #answer: Buffer | undefined;
  readonly #owner: string;
  /** The level of the leaky bucket when it was filled last. */
  #level = 0;
  #filledAtMs = 0;

  constructor(options: FlowOptions) {
    this.#options = options;
    this.#owner = options.owner;
    this.#kept = new KeptBytes(options.dependencies.bodies, options.owner);
  }

  /**
   * As a source of the intake, as `pause` and `resume` are. An accessor of the class: one of an object that each answer makes
   * would have a hidden class of its own each time, and that keeps the whole request in memory until the next full collection.
   */
  get destroyed(): boolean {
    return this.#isEnded;
  }

  pause(): void {
    this.#pause('intake');
  }

  resume(): void {
    this.#resume('intake');
  }

  /** Follows the bytes of an answer; to be called once. It may have ended before there was anything to call off. */
  of(upstreamCall: UpstreamCall): void {
    this.#upstreamCall = upstreamCall;
    if (this.#isEnded) upstreamCall.abort();
    else if (this.#pauses.size > 0) upstreamCall.pause();
  }

  /**
   * To be called for what came. An answer faster than any model's shares the main thread with request bodies: what is
   * read of them all in a moment is bounded, and fairly among organisations.
   */
  count(bytes: number, kind: AnswerKind): void {
    const nowMs = this.#options.dependencies.clock.monotonicMs();
    const { ofByte, burst } = COSTS[kind];
    const leaked = (nowMs - this.#filledAtMs) * LEAK_PER_MS;
    const cost = ofByte * bytes + PACKET_COST;
    const level = Math.max(0, this.#level - leaked) + cost;
    this.#filledAtMs = nowMs;
    this.#level = Math.min(level, burst);
    if (level > burst) intake.count(this.#owner, this, Math.min(cost, level - burst));
  }

  /** Nothing more, where much waits for the caller, until it has taken that; it has a bounded time. */
  waitForCaller(): void {
    const { exchange } = this.#options;
    if (this.#pauses.has('caller') || exchange.response.writableLength < WAITING_BYTES) return;
    this.#pause('caller');
    const cancel = limitWait(exchange);
    const onDrain = () => {
      this.#cancelWait();
      this.update();
      this.#resume('caller');
    };
    exchange.response.once('drain', onDrain);
    this.#cancelWait = () => {
      cancel();
      exchange.response.off('drain', onDrain);
    };
  }

  /** To be called whenever more, or less, is in memory than before. Nothing more comes while there is no room for it. */
  update(): void {
    if (this.#isEnded) return;
    if (this.#takeRoom()) {
      this.#cancelRetry?.();
      this.#cancelRetry = undefined;
      this.#resume('room');
    } else if (!this.#cancelRetry) {
      this.#pause('room');
      this.#retryUntil(this.#options.dependencies.clock.monotonicMs() + MAX_WAIT_MS);
    }
  }

  /** Waits neither for the caller nor for room any more. */
  open(): void {
    this.#cancelWaits();
    this.#pauses.delete('room');
    this.#pauses.delete('caller');
    if (this.#pauses.size === 0) this.#upstreamCall?.resume();
  }

  /** The provider has said its last. */
  onUpstreamFinished(): void {
    this.#isUpstreamFinished = true;
    this.#cancelLinger();
  }

  /**
   * Nothing more is wanted. `waiting` is what waits for the caller: a whole answer, or so many bytes. A provider that is about to end
   * by itself is given a moment to do so: its connection can then be used again.
   */
  end(waiting: Buffer | number, isUpstreamEnding: boolean): void {
    this.#isEnded = true;
    this.#cancelWaits();
    const { exchange, dependencies } = this.#options;
    const isWhole = typeof waiting !== 'number';
    const waitingBytes = isWhole ? waiting.length : waiting;
    this.#kept.set(exchange.response.destroyed ? 0 : waitingBytes);
    if (isWhole && waitingBytes > SMALL_BODY_BYTES) this.#answer = waiting;
    // An answer that another attempt takes the place of is not sent, so many of them may end on one response.
    if (waitingBytes > 0) exchange.response.once('close', this.#onSent);
    if (this.#isUpstreamFinished) return;
    if (!isUpstreamEnding) {
      this.#upstreamCall?.abort();
      return;
    }
    this.#upstreamCall?.resume();
    this.#cancelLinger = dependencies.timers.after(LINGER_MS, () => this.#upstreamCall?.abort());
  }

  /** Discards what waits for the caller. */
  discard(): void {
    this.#options.exchange.response.off('close', this.#onSent);
    this.#kept.set(0);
  }

  /** The connection has all of it, or has ended: nothing reads it any more. */
  readonly #onSent = (): void => {
    this.#kept.set(0);
    if (this.#answer) freeMemory(this.#answer);
  };

  #takeRoom(): boolean {
    const { keptBytes, exchange } = this.#options;
    const waiting = exchange.response.destroyed ? 0 : exchange.response.writableLength;
    return this.#kept.set(keptBytes() + waiting);
  }

  #retryUntil(deadlineMs: number): void {
    const { dependencies, onNoRoom } = this.#options;
    this.#cancelRetry = dependencies.timers.after(RETRY_MS, () => {
      this.#cancelRetry = undefined;
      if (this.#takeRoom()) this.#resume('room');
      else if (dependencies.clock.monotonicMs() >= deadlineMs) onNoRoom();
      else this.#retryUntil(deadlineMs);
    });
  }

  #pause(reason: PauseReason): void {
    this.#pauses.add(reason);
    this.#upstreamCall?.pause();
  }

  #resume(reason: PauseReason): void {
    if (this.#pauses.delete(reason) && this.#pauses.size === 0) this.#upstreamCall?.resume();
  }

  #cancelWaits(): void {
    this.#cancelWait();
    this.#cancelRetry?.();
    this.#cancelRetry = undefined;
  }
}
