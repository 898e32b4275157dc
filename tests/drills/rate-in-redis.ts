import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { findRedisServer } from '@gatehouse/gateway/testing';
import { eventually } from '../service-process.ts';
import { type Drill, type DrillSettings, runParts } from './drill.ts';
import { setRateLimit, startFleet } from './gateway-fleet.ts';
import { type RedisSetup, startAlone, startCluster, startSentinels } from './stores/redis-setups.ts';

// Sends far more requests than a key's rate allows to two gateways with one Redis, in real time, kills the server that counts every
// 50 seconds and starts it again, empty, 20 seconds later. Counts those served in every 60 seconds. The parts are how Redis is run.

const limit = 100;
const WINDOW_MS = 60_000;
const PAUSE_MS = 10;
const KILL_INTERVAL_MS = 50_000;
const AWAY_MS = 20_000;
// The most that a request may take longer because of Redis: see the time limit in redis-rates.ts.
const SLOWEST_MS = 5_000;

const PARTS = {
  alone: inSetup(startAlone),
  sentinel: inSetup(startSentinels),
  cluster: inSetup(startCluster),
};

export const drill: Drill = (settings) => runParts(PARTS, settings);

function inSetup(start: (program: string) => Promise<RedisSetup>): Drill {
  return async (settings) => {
    const program = await findRedisServer();
    if (program === undefined) settings.log('skipped: neither redis-server nor valkey-server is installed');
    else {
      await using setup = await start(program);
      await countWhileKilled(setup, settings);
    }
    return [];
  };
}

async function countWhileKilled(setup: RedisSetup, { cycles: seconds, log }: DrillSettings) {
  await using fleet = await startFleet({ environment: { REDIS_URL: `redis://${setup.addresses}` } });
  const key = await fleet.mint();
  await fleet.database.run(setRateLimit, { keyId: key.id, rateLimitRpm: limit });
  const recovered = () =>
    fleet.services
      .flatMap(({ logLines }) => logLines)
      .filter((line) => line['event'] === 'rates.redis_recovered').length;

  const served: { readonly sentAt: number; readonly answeredAt: number }[] = [];
  let refused = 0;
  let slowestMs = 0;
  const awayMs: number[] = [];
  const end = performance.now() + seconds * 1000;
  const stopping = new AbortController();
  const killing = (async () => {
    for (;;) {
      await delay(KILL_INTERVAL_MS, undefined, { signal: stopping.signal });
      const before = recovered();
      const killedAt = performance.now();
      await setup.kill();
      if (!setup.takesOver) await delay(AWAY_MS, undefined, { signal: stopping.signal });
      const restored = setup.takesOver ? undefined : await setup.restore().then(() => performance.now());
      // Both gateways share the rate again: without the one that was killed where another takes over.
      await eventually(async () => recovered() >= before + fleet.gatewayPorts.length || undefined);
      awayMs.push(performance.now() - (restored ?? killedAt));
      if (setup.takesOver) {
        await delay(AWAY_MS, undefined, { signal: stopping.signal });
        await setup.restore();
      }
    }
  })().catch((error: Error) => {
    if (error.name !== 'AbortError') throw error;
  });
  // Also thrown below: a failure of the servers ends the drill at its end.
  killing.catch(() => undefined);
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
  const shared = awayMs.map((ms) => `${(ms / 1_000).toFixed(1)} s`).join(', ');
  log(
    `${served.length} served and ${refused} refused in ${seconds} s at ${limit} in any 60 s over two gateways; at most ${most} in any 60 s; killed ${awayMs.length} times, both gateways counted together again ${shared} after ${setup.takesOver ? 'the kill' : 'it was back'}; slowest request ${Math.round(slowestMs)} ms`,
  );
}
