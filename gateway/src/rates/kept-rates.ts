import type { Logger } from 'pino';
import { connectToKeeper, type RateKeeperAddress } from './keeper-connection.ts';
import { openSharedRates, type SharedRates, type SharedRatesOptions } from './shared-rates.ts';

export interface KeptRatesOptions extends RateKeeperAddress, SharedRatesOptions {
  /** How many processes share the port. */
  readonly processes: number;
  readonly log: Logger;
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 1_000;
// The keeper goes by ages, which need no clock of its own.
const TOLD_US = 1;

/** The rates of a gateway process that shares its port: the rate keeper counts. */
export async function openKeptRates(options: KeptRatesOptions): Promise<SharedRates> {
  const { processes, clock, log, timeoutMs = TIMEOUT_MS } = options;
  // Keepers do not know each other's counts. One that is asked was told everything before.
  let toldKeeperId: string | undefined;
  return openSharedRates(
    {
      connect({ onOpen, onClose }) {
        let keeperId: string | undefined;
        let isTold = false;
        const { ask, remember, close } = connectToKeeper({
          ...options,
          timers: clock,
          timeoutMs,
          onOpen(id) {
            keeperId = id;
            isTold = id === toldKeeperId;
            onOpen();
          },
          onClose,
        });
        return {
          async ask(kind, keyId, limitRpm) {
            toldKeeperId = keeperId;
            const decision = await ask(kind, keyId, limitRpm);
            return (
              decision && { ...decision, countedUs: kind === 'take' && decision.isAllowed ? TOLD_US : 0 }
            );
          },
          // One that has counted a request itself would count it again.
          remember: (keyId, requests) =>
            remember(
              requests.filter(({ timeUs }) => timeUs < 0 || !isTold).map(({ ageMs }) => ({ keyId, ageMs })),
            ),
          close,
        };
      },
      processes: () => processes,
      nextTimeUs: () => TOLD_US,
      logLost: (error) =>
        log.warn(
          { event: 'rates.keeper_lost', err: error },
          'rate keeper not reached; this process enforces its share of each rate',
        ),
      logRecovered: () =>
        log.info({ event: 'rates.keeper_recovered' }, 'rates are counted for all gateway processes again'),
    },
    options,
  );
}
