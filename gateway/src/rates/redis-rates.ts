import { randomUUID } from 'node:crypto';
import type { Clock } from '@gatehouse/concurrency';
import type { Logger } from 'pino';
import { GatewayCount } from './gateway-count.ts';
import type { RedisAddress } from './redis-client.ts';
import { connectToRedis, type Presence, type RedisConnection } from './redis-connection.ts';
import { redisFailure } from './redis-failure.ts';
import { RedisNodes } from './redis-nodes.ts';
import { openSharedRates, type SharedRates, type SharedRatesOptions } from './shared-rates.ts';

export type { RedisAddress };

export interface RedisRatesOptions extends SharedRatesOptions {
  readonly address: RedisAddress;
  /** How many processes share the rates at least. It is all that a process knows before it reaches Redis. */
  readonly processes: number;
  readonly clock: Pick<Clock, 'monotonicMs' | 'epochMs' | 'after' | 'sleep'>;
  readonly log: Logger;
  readonly timeoutMs?: number;
}

// Twice this is the longest that a request waits for Redis.
const TIMEOUT_MS = 250;
const PRESENT_INTERVAL_MS = 5_000;

/** The rates of a gateway process that shares them with processes on other machines: Redis or Valkey counts. */
export async function openRedisRates(options: RedisRatesOptions): Promise<SharedRates> {
  const { address, clock, log, timeoutMs = TIMEOUT_MS } = options;
  const gatewayId = randomUUID();
  const gateways = new GatewayCount(() => clock.monotonicMs(), options.processes);
  const nodes = new RedisNodes(address);
  const stopping = new AbortController();
  let opened: RedisConnection | undefined;
  let isCluster = false;
  let toldPolicy: string | undefined;
  // Redis's clock less that of this process, and the last time that was given by it.
  let offsetUs = (clock.epochMs() - clock.monotonicMs()) * 1_000;
  let lastUs = 0;

  const heard = ({ gateways: count, timeUs }: Presence) => {
    gateways.add(count);
    offsetUs = timeUs - clock.monotonicMs() * 1_000;
  };
  void (async () => {
    while (!stopping.signal.aborted) {
      await clock.sleep(PRESENT_INTERVAL_MS, stopping.signal);
      const presence = await opened?.present();
      if (presence) heard(presence);
    }
  })();
  const rates = await openSharedRates(
    {
      connect({ onOpen, onClose }) {
        const connection = connectToRedis({
          address,
          nodes: nodes.next(),
          gatewayId,
          isCluster,
          timers: clock,
          timeoutMs,
          onOpen(presence) {
            opened = connection;
            gateways.restart();
            heard(presence);
            onOpen();
          },
          onEvictionPolicy(policy) {
            if (policy === toldPolicy) return;
            toldPolicy = policy;
            log.warn(
              { event: 'rates.redis_may_evict', host: address.host, port: address.port, policy },
              'Redis may evict counted requests when its memory is full; set maxmemory-policy to noeviction',
            );
          },
          onNodes: (found) => nodes.learn(found),
          onClose(error, foundCluster) {
            opened = undefined;
            const isNews = foundCluster && !isCluster;
            isCluster = foundCluster;
            onClose(error, isNews);
          },
        });
        return connection;
      },
      processes: () => gateways.most,
      nextTimeUs() {
        lastUs = Math.max(lastUs + 1, Math.round(clock.monotonicMs() * 1_000 + offsetUs));
        return lastUs;
      },
      logLost: (error) =>
        log.warn(
          {
            event: 'rates.redis_lost',
            host: address.host,
            port: address.port,
            gateways: gateways.most,
            reason: redisFailure(error),
            err: error,
          },
          'Redis not reached; this gateway process enforces its share of each rate',
        ),
      logRecovered: () =>
        log.info(
          { event: 'rates.redis_recovered', gateways: gateways.most },
          'rates are counted in Redis again',
        ),
    },
    options,
  );
  return {
    ...rates,
    close() {
      stopping.abort();
      rates.close();
    },
  };
}
