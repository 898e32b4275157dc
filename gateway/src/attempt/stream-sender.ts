import type { Clock, Timers } from '@gatehouse/concurrency';
import type { Dependencies } from '../context/dependencies.ts';
import { type AnswerContext, beginStream, writeEvents } from '../exchange/answers.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { CallersStream, Outgoing } from '../formats/outgoing.ts';
import type { Flow } from './flow.ts';
import type { Head } from './whole-answer.ts';

/** Clients give up after some minutes of silence, and proxies after a minute or less. */
export const SILENCE_MS = 15_000;

/** Sends a stream to its caller as it comes, paced by the caller, and keeps it alive while it is silent. */
export class StreamSender {
  readonly #exchange: Exchange;
  readonly #flow: Flow;
  readonly #dependencies: Pick<Dependencies, 'clock' | 'timers'>;
  #sentAtMs = 0;
  #stopPings: () => void = () => {};

  constructor(exchange: Exchange, flow: Flow, dependencies: Pick<Dependencies, 'clock' | 'timers'>) {
    this.#exchange = exchange;
    this.#flow = flow;
    this.#dependencies = dependencies;
  }

  begin(
    { status, headers }: Head,
    reading: CallersStream,
    outgoing: Pick<Outgoing, 'headersToCaller'>,
    context: AnswerContext,
  ): void {
    beginStream(this.#exchange, status, outgoing.headersToCaller(status, headers), context);
    this.#sentAtMs = this.#dependencies.clock.monotonicMs();
    if (!reading.ping) return;
    const ping = () => this.#send(reading.ping?.());
    this.#stopPings = keepAlive(this.#dependencies, () => this.#sentAtMs, ping);
  }

  /** Sends what the provider's bytes came to. */
  pass(reading: CallersStream, bytes: Buffer): void {
    if (reading.hasContent) this.#exchange.firstTokenAtMs ??= this.#dependencies.clock.monotonicMs();
    this.#send(bytes);
    this.#flow.update();
  }

  /** From here on, only the end is sent. */
  stop(): void {
    this.#stopPings();
  }

  #send(bytes: Buffer | undefined): void {
    if (!bytes || bytes.length === 0) return;
    this.#sentAtMs = this.#dependencies.clock.monotonicMs();
    if (!writeEvents(this.#exchange, bytes)) this.#flow.waitForCaller();
  }
}

/** Calls `ping` whenever nothing was sent for 15 seconds. Returns what stops that. */
function keepAlive(
  { clock, timers }: { readonly clock: Clock; readonly timers: Timers },
  lastSentAtMs: () => number,
  ping: () => void,
): () => void {
  let cancel: () => void = () => {};
  const watch = (ms: number) => {
    cancel = timers.after(ms, () => {
      const silentMs = clock.monotonicMs() - lastSentAtMs();
      if (silentMs >= SILENCE_MS) ping();
      watch(silentMs >= SILENCE_MS ? SILENCE_MS : SILENCE_MS - silentMs);
    });
  };
  watch(SILENCE_MS);
  return () => cancel();
}
