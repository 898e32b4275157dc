import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { findRedisServer, startFakeRedis, startRedisServer } from '@gatehouse/gateway/testing';
import type { Drill } from './drill.ts';
import { setRateLimit, startFleet } from './gateway-fleet.ts';

// Sends far more requests than a key's rate allows to two gateways with one Redis, in real time, kills Redis every 50 seconds
// and starts it again, empty, 20 seconds later. Counts those served in every 60 seconds. Without a redis-server or valkey-server
// on this machine it uses the fake one of the tests, and says so.

const limit = 100;
const WINDOW_MS = 60_000;
const PAUSE_MS = 10;
const KILL_INTERVAL_MS = 50_000;
const AWAY_MS = 20_000;
// The most that a request may take longer because of Redis: see the time limit in redis-rates.ts.
const SLOWEST_MS = 5_000;

export const drill: Drill = async ({ cycles: seconds, log }) => {
  const program = await findRedisServer();
  await using redis = program === undefined ? await startFakeServer() : await startRedisServer(program);
  await using fleet = await startFleet({ environment: { REDIS_URL: `redis://127.0.0.1:${redis.port}` } });
  const key = await fleet.mint();
  await fleet.database.run(setRateLimit, { keyId: key.id, rateLimitRpm: limit });

  const served: { readonly sentAt: number; readonly answeredAt: number }[] = [];
  let refused = 0;
  let slowestMs = 0;
  let kills = 0;
  const end = performance.now() + seconds * 1000;
  const stopping = new AbortController();
  const killing = (async () => {
    for (;;) {
      await delay(KILL_INTERVAL_MS, undefined, { signal: stopping.signal });
      await redis.kill();
      kills += 1;
      await delay(AWAY_MS, undefined, { signal: stopping.signal });
      await redis.start();
    }
  })().catch((error: Error) => {
    if (error.name !== 'AbortError') throw error;
  });
  await Promise.all(
    ([0, 1, 0, 1] as const).map(async (gateway) => {
      while (performance.now() < end) {
        const sentAt = performance.now();
        const status = await fleet.ask(gateway, key.secret);
        const answeredAt = performance.now();
        slowestMs = Math.max(slowestMs, answeredAt - sentAt);
        assert.ok(status === 200 || status === 429, `answered ${status}`);
        if (status === 200) served.push({ sentAt, answeredAt });
        else refused += 1;
        await delay(PAUSE_MS);
      }
    }),
  );
  stopping.abort();
  await killing;

  // A request counts at some moment between its start and its answer. Requests entirely within a window count in it.
  let most = 0;
  for (const { sentAt } of served) {
    const inside = served.filter((one) => one.sentAt >= sentAt && one.answeredAt < sentAt + WINDOW_MS).length;
    most = Math.max(most, inside);
  }
  assert.ok(most <= limit, `${most} were served within 60 seconds, and ${limit} are allowed`);
  assert.ok(served.length >= (limit / 2) * Math.floor(seconds / 60), `only ${served.length} were served`);
  assert.ok(slowestMs < SLOWEST_MS, `a request took ${Math.round(slowestMs)} ms`);
  log(
    `${served.length} served and ${refused} refused in ${seconds} s at ${limit} in any 60 s over two gateways; at most ${most} in any 60 s; ${program ?? 'the fake Redis'} killed ${kills} times; slowest request ${Math.round(slowestMs)} ms`,
  );
  return [];
};

async function startFakeServer() {
  const fake = await startFakeRedis();
  const ticking = setInterval(() => {
    fake.nowUs = Date.now() * 1_000;
  }, 1);
  return {
    port: fake.port,
    start: () => fake.start(),
    async kill() {
      await fake.stop();
      fake.clear();
    },
    async [Symbol.asyncDispose]() {
      clearInterval(ticking);
      await fake.stop();
    },
  };
}
