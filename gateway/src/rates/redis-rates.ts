import { randomUUID } from 'node:crypto';
import { type Clock, createBackoff, finishesWithin } from '@gatehouse/concurrency';
import type { Logger } from 'pino';
import { decideAlone } from './decide-alone.ts';
import { GatewayCount } from './gateway-count.ts';
import { OwnRequests } from './own-requests.ts';
import type { RateDecision, RateLimiter } from './rate-limiter.ts';
import type { RedisAddress } from './redis-client.ts';
import {
  type CountedDecision,
  connectToRedis,
  type Presence,
  type RedisConnection,
} from './redis-connection.ts';

import { redisFailure } from './redis-failure.ts';
import { RedisNodes } from './redis-nodes.ts';

export type { RedisAddress };

/*
 * The rates of a gateway process that shares them with processes on other machines. Redis or Valkey counts.
 *
 * While it cannot be reached, each process enforces its share: the limit divided by the gateway processes that Redis has
 * counted, at least one request, less what the process has let pass itself. As long as what Redis had counted for a key is in
 * the window, a process also takes no more than its part of what was left. So all of them together stay within the
 * limit in a minute that begins before the loss, too.
 *
 * A process that reaches Redis again tells it every request of its last minute. Redis may have kept all, some or none of
 * them; the time of each is its identity, so none counts twice. The others may not have told theirs yet, so for a moment
 * the share holds beside Redis's count.
 */
export interface RedisRates extends RateLimiter {
  close(): void;
}

export interface RedisRatesOptions {
  readonly address: RedisAddress;
  /** How many processes share the rates at least. It is all that a process knows before it reaches Redis. */
  readonly processes: number;
  readonly clock: Pick<Clock, 'monotonicMs' | 'epochMs' | 'after' | 'sleep'>;
  readonly log: Logger;
  readonly timeoutMs?: number;
  /** How long the start waits for Redis. */
  readonly firstConnectionMs?: number;
  /** How long the share holds after Redis was reached again. */
  readonly settlingMs?: number;
}

// Twice this is the longest that a request waits for Redis.
const TIMEOUT_MS = 250;
const FIRST_CONNECTION_MS = 2_000;
const PRESENT_INTERVAL_MS = 5_000;
const RECONNECTS = { firstMs: 20, maxMs: 1_000, immediateRetries: 1, jitter: 0.5 };
// Longer than the longest wait before a process connects again, with its time limits.
const SETTLING_MS = 4_000;
const KEYS_AT_ONCE = 256;

/** Connects, or goes on without Redis if it does not answer in time. */
export async function openRedisRates(options: RedisRatesOptions): Promise<RedisRates> {
  const {
    address,
    clock,
    log,
    timeoutMs = TIMEOUT_MS,
    settlingMs = SETTLING_MS,
    firstConnectionMs = FIRST_CONNECTION_MS,
  } = options;
  const gatewayId = randomUUID();
  const monotonicMs = () => clock.monotonicMs();
  const own = new OwnRequests(monotonicMs);
  const gateways = new GatewayCount(monotonicMs, options.processes);
  const backoff = createBackoff(RECONNECTS);
  const nodes = new RedisNodes(address);
  const stopping = new AbortController();
  const firstOpen = Promise.withResolvers<void>();
  let connection: RedisConnection | undefined;
  let isCluster = false;
  let isCounting = false;
  let wasCounting = false;
  let isLostLogged = false;
  let toldPolicy: string | undefined;
  let settledAtMs = -Infinity;
  // Redis's clock less that of this process, and the last time that was given by it.
  let offsetUs = (clock.epochMs() - clock.monotonicMs()) * 1_000;
  let lastUs = 0;

  const nextTimeUs = () => {
    lastUs = Math.max(lastUs + 1, Math.round(clock.monotonicMs() * 1_000 + offsetUs));
    return lastUs;
  };
  const heard = ({ gateways: count, timeUs }: Presence) => {
    gateways.add(count);
    offsetUs = timeUs - clock.monotonicMs() * 1_000;
  };

  const countAt = async (opened: RedisConnection): Promise<void> => {
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
    if (isLostLogged)
      log.info(
        { event: 'rates.redis_recovered', gateways: gateways.most },
        'rates are counted in Redis again',
      );
    isLostLogged = false;
  };
  const open = () => {
    const opened = connectToRedis({
      address,
      nodes: nodes.next(),
      gatewayId,
      isCluster,
      timers: clock,
      timeoutMs,
      onOpen(presence) {
        gateways.restart();
        heard(presence);
        backoff.reset();
        void countAt(opened);
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
        const isNews = foundCluster && !isCluster;
        isCluster = foundCluster;
        isCounting = false;
        connection = undefined;
        if (stopping.signal.aborted) return;
        if (!isLostLogged && !isNews) {
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
          );
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
  void (async () => {
    while (!stopping.signal.aborted) {
      await clock.sleep(PRESENT_INTERVAL_MS, stopping.signal);
      const presence = isCounting ? await connection?.present() : undefined;
      if (presence) heard(presence);
    }
  })();
  await finishesWithin(firstOpen.promise, firstConnectionMs, clock);

  const alone = (keyId: string, limitRpm: number): RateDecision => {
    const share = Math.max(1, Math.floor(limitRpm / gateways.most));
    return decideAlone(own.of(keyId), limitRpm, share, clock.monotonicMs());
  };
  const takeAlone = (keyId: string, limitRpm: number): RateDecision => {
    const decision = alone(keyId, limitRpm);
    if (!decision.isAllowed) return decision;
    own.add(keyId, -nextTimeUs());
    return { ...alone(keyId, limitRpm), isAllowed: true };
  };
  const learn = (keyId: string, { size, limit, resetMs }: CountedDecision) => {
    const nowMs = clock.monotonicMs();
    if (nowMs < settledAtMs) return;
    const requests = own.of(keyId);
    requests.cap = requests.size + Math.floor(Math.max(0, limit - size) / gateways.most);
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
