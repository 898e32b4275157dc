import { type Clock, createBackoff, finishesWithin } from '@gatehouse/concurrency';
import { decideAlone } from './decide-alone.ts';
import { type OwnRequest, OwnRequests } from './own-requests.ts';
import type { RateDecision, RateLimiter } from './rate-limiter.ts';

/*
 * The rates of a gateway process that shares them with others. A counter counts for all: the rate keeper of their port, or Redis.
 *
 * While it cannot be reached, each process enforces its share: the limit divided by the processes, at least one request, less what the
 * process has let pass itself. As long as what was counted for a key is in the window, a process also takes no more than its
 * part of what was left. So all of them together stay within the limit in a minute that begins before the loss, too.
 *
 * A process that reaches the counter again tells it every request of its last minute. It may have kept all, some or none of
 * them, and counts none twice. The others may not have told theirs yet, so for a moment the share holds beside its count.
 */
export interface SharedRates extends RateLimiter {
  close(): void;
}

/** How a key stands by the counter. */
export interface CountedDecision extends RateDecision {
  /** When the request was counted, in microseconds by the counter's clock; 0 when it was not. */
  readonly countedUs: number;
}

/** One connection to the counter. */
export interface CounterConnection {
  /** Undefined when the connection ends before the answer comes, or when too many questions wait. */
  ask(kind: 'take' | 'peek', keyId: string, limitRpm: number): Promise<CountedDecision | undefined>;
  /** Tells requests of a key that this process has let pass, those included that the counter has counted itself. */
  remember(keyId: string, requests: readonly OwnRequest[]): void;
  close(): void;
}

export interface ConnectionEvents {
  /** To be called once, when questions can be asked. */
  onOpen(): void;
  /** To be called once, later than `connect` returns. What was not answered is undecided by then. An expected end is not logged. */
  onClose(error: Error, isExpected?: boolean): void;
}

/** The rate keeper of a port, or Redis: how it is reached, and how its loss is logged. */
export interface Counter {
  connect(events: ConnectionEvents): CounterConnection;
  /** How many processes share the rates. */
  processes(): number;
  /** The time of a request that this process lets pass alone, in microseconds by the counter's clock. No two are the same. */
  nextTimeUs(): number;
  logLost(error: Error): void;
  logRecovered(): void;
}

export interface SharedRatesOptions {
  readonly clock: Pick<Clock, 'monotonicMs' | 'after' | 'sleep'>;
  /** How long the start waits for the counter. */
  readonly firstConnectionMs?: number | undefined;
  /** How long the share holds after the counter was reached again. */
  readonly settlingMs?: number | undefined;
}

const FIRST_CONNECTION_MS = 2_000;
const RECONNECTS = { firstMs: 20, maxMs: 1_000, immediateRetries: 1, jitter: 0.5 };
// Longer than the longest wait before a process connects again, with its time limits.
const SETTLING_MS = 4_000;
const KEYS_AT_ONCE = 256;

/** Connects, or goes on without the counter if it does not answer in time. */
export async function openSharedRates(counter: Counter, options: SharedRatesOptions): Promise<SharedRates> {
  const { clock, firstConnectionMs = FIRST_CONNECTION_MS, settlingMs = SETTLING_MS } = options;
  const own = new OwnRequests(() => clock.monotonicMs());
  const backoff = createBackoff(RECONNECTS);
  const stopping = new AbortController();
  const firstOpen = Promise.withResolvers<void>();
  let connection: CounterConnection | undefined;
  let isCounting = false;
  let wasCounting = false;
  let isLostLogged = false;
  let settledAtMs = -Infinity;

  const countAt = async (opened: CounterConnection): Promise<void> => {
    for (const [index, keyId] of own.keyIds().entries()) {
      opened.remember(keyId, own.tell(keyId));
      if (index % KEYS_AT_ONCE === KEYS_AT_ONCE - 1) await new Promise((resolve) => setImmediate(resolve));
    }
    // What passed while this waited. Nothing passes between here and the first question.
    for (const keyId of own.untoldKeyIds()) opened.remember(keyId, own.tell(keyId));
    if (connection !== opened) return;
    // One that begins has nothing to tell, and is not held back.
    if (wasCounting || isLostLogged) settledAtMs = clock.monotonicMs() + settlingMs;
    isCounting = true;
    wasCounting = true;
    firstOpen.resolve();
    if (isLostLogged) counter.logRecovered();
    isLostLogged = false;
  };
  const open = () => {
    const opened = counter.connect({
      onOpen() {
        backoff.reset();
        void countAt(opened);
      },
      onClose(error, isExpected = false) {
        isCounting = false;
        connection = undefined;
        if (stopping.signal.aborted) return;
        if (!isLostLogged && !isExpected) {
          counter.logLost(error);
          isLostLogged = true;
        }
        void clock.sleep(backoff.nextMs(), stopping.signal).then(() => {
          if (!stopping.signal.aborted) open();
        });
      },
    });
    connection = opened;
  };
  open();
  await finishesWithin(firstOpen.promise, firstConnectionMs, clock);

  const alone = (keyId: string, limitRpm: number): RateDecision => {
    const share = Math.max(1, Math.floor(limitRpm / counter.processes()));
    return decideAlone(own.of(keyId), limitRpm, share, clock.monotonicMs());
  };
  const takeAlone = (keyId: string, limitRpm: number): RateDecision => {
    const decision = alone(keyId, limitRpm);
    if (!decision.isAllowed) return decision;
    own.add(keyId, -counter.nextTimeUs());
    return { ...alone(keyId, limitRpm), isAllowed: true };
  };
  const learn = (keyId: string, { remaining, resetMs }: RateDecision) => {
    const nowMs = clock.monotonicMs();
    if (nowMs < settledAtMs) return;
    const requests = own.of(keyId);
    requests.cap = requests.size + Math.floor(remaining / counter.processes());
    requests.capUntilMs = nowMs + resetMs;
  };
  return {
    async take(keyId, limitRpm) {
      const isSettling = clock.monotonicMs() < settledAtMs;
      if (!isCounting || !connection || (isSettling && !alone(keyId, limitRpm).isAllowed))
        return takeAlone(keyId, limitRpm);
      const requests = own.of(keyId);
      requests.pending += 1;
      const decision = await connection.ask('take', keyId, limitRpm);
      requests.pending -= 1;
      if (!decision) return takeAlone(keyId, limitRpm);
      if (decision.isAllowed) own.add(keyId, decision.countedUs);
      learn(keyId, decision);
      return decision;
    },
    async peek(keyId, limitRpm) {
      const decision = isCounting ? await connection?.ask('peek', keyId, limitRpm) : undefined;
      if (!decision) return alone(keyId, limitRpm);
      learn(keyId, decision);
      return decision;
    },
    isShared: () => isCounting,
    close() {
      stopping.abort();
      connection?.close();
    },
  };
}
