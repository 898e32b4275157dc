import { type Clock, createBackoff, finishesWithin } from '@gatehouse/concurrency';
import type { Logger } from 'pino';
import { connectToKeeper, type KeeperConnection, type RateKeeperAddress } from './keeper-connection.ts';
import type { RateDecision, RateLimiter } from './rate-limiter.ts';
import { SlidingWindow } from './sliding-window.ts';

/*
 * The rates of a gateway process that shares its port: the rate keeper counts for all of them. While it cannot be
 * reached, each process enforces its share of a limit, by the requests that it has served itself; a limit below the number
 * of processes counts as one request for each. A keeper that is reached again hears what was counted without it, and a
 * new one all that still counts, so its window is whole once every process has reached it.
 */
export interface KeptRates extends RateLimiter {
  close(): void;
}

export interface KeptRatesOptions extends RateKeeperAddress {
  /** How many processes share the port. */
  readonly processes: number;
  readonly clock: Pick<Clock, 'monotonicMs' | 'after' | 'sleep'>;
  readonly log: Logger;
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 1_000;
const FIRST_CONNECTION_MS = 2_000;
const RECONNECTS = { firstMs: 20, maxMs: 1_000, immediateRetries: 1, jitter: 0.5 };

/** Connects, or goes on without the keeper if it does not answer in time. */
export async function openKeptRates(options: KeptRatesOptions): Promise<KeptRates> {
  const { processes, clock, log, timeoutMs = TIMEOUT_MS } = options;
  // What this process has let pass, by whosever decision.
  const own = new SlidingWindow(() => clock.monotonicMs());
  const backoff = createBackoff(RECONNECTS);
  const stopping = new AbortController();
  const firstOpen = Promise.withResolvers<void>();
  let connection: KeeperConnection;
  let isOpen = false;
  let known: { readonly keeperId: string; untilMs: number } | undefined;
  let isLostLogged = false;

  const open = () => {
    connection = connectToKeeper({
      ...options,
      timers: clock,
      timeoutMs,
      onOpen(keeperId) {
        const isSame = known?.keeperId === keeperId;
        connection.remember(own.recent(isSame ? clock.monotonicMs() - (known?.untilMs ?? 0) : Infinity));
        known = { keeperId, untilMs: Infinity };
        isOpen = true;
        backoff.reset();
        firstOpen.resolve();
        if (isLostLogged)
          log.info({ event: 'rates.keeper_recovered' }, 'rates are counted for all gateway processes again');
        isLostLogged = false;
      },
      onClose(error) {
        if (isOpen && known) known.untilMs = clock.monotonicMs();
        isOpen = false;
        if (stopping.signal.aborted) return;
        if (!isLostLogged)
          log.warn(
            { event: 'rates.keeper_lost', err: error },
            'rate keeper not reached; this process enforces its share of each rate',
          );
        isLostLogged = true;
        void clock.sleep(backoff.nextMs(), stopping.signal).then(() => {
          if (!stopping.signal.aborted) open();
        });
      },
    });
  };
  open();
  await finishesWithin(firstOpen.promise, FIRST_CONNECTION_MS, clock);

  const shareOf = (limitRpm: number) => Math.max(1, Math.floor(limitRpm / processes));
  const withoutKeeper = (kind: 'take' | 'peek', keyId: string, limitRpm: number): RateDecision => ({
    ...own[kind](keyId, Math.min(limitRpm, shareOf(limitRpm))),
    limit: limitRpm,
  });
  return {
    async take(keyId, limitRpm) {
      const decision = await connection.ask('take', keyId, limitRpm);
      if (!decision) return withoutKeeper('take', keyId, limitRpm);
      if (decision.isAllowed) own.remember(keyId, 0);
      return decision;
    },
    async peek(keyId, limitRpm) {
      return (await connection.ask('peek', keyId, limitRpm)) ?? withoutKeeper('peek', keyId, limitRpm);
    },
    isShared: () => isOpen,
    close() {
      stopping.abort();
      connection.close();
    },
  };
}
