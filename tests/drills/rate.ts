import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { ServiceProcess } from '../service-process.ts';
import type { Drill, DrillSettings } from './drill.ts';
import { setRateLimit, startFleet } from './gateway-fleet.ts';
import { gatewayPids } from './gateway-kills.ts';

// Sends far more requests than a key's rate allows, in real time, and counts those served in every 60 seconds: to one
// gateway or, on one port, to two processes on one port, one of which is killed every 20 seconds.

const limit = 100;
const WINDOW_MS = 60_000;
const PAUSE_MS = 10;
const KILL_INTERVAL_MS = 20_000;

export const drill: Drill = (settings) => run(settings, false);
export const drillOnOnePort: Drill = (settings) => run(settings, true);

async function run({ cycles: seconds, log }: DrillSettings, onOnePort: boolean): Promise<readonly string[]> {
  await using fleet = await startFleet({ onOnePort });
  const key = await fleet.mint();
  await fleet.database.run(setRateLimit, { keyId: key.id, rateLimitRpm: limit });

  const served: { readonly sentAt: number; readonly answeredAt: number }[] = [];
  let refused = 0;
  let kills = 0;
  const killing = setInterval(() => {
    const pids = gatewayPids(fleet.services[0] as ServiceProcess);
    process.kill(pids.get(1 + (kills % 2)) as number, 'SIGKILL');
    kills += 1;
  }, KILL_INTERVAL_MS);
  if (!onOnePort) clearInterval(killing);
  /** The error of fetch for a connection that ended with its process. */
  const isBroken = (error: unknown) => {
    if (kills === 0 || !(error instanceof TypeError)) throw error;
    return undefined;
  };
  const end = performance.now() + seconds * 1000;
  await Promise.all(
    Array.from({ length: 4 }, async () => {
      while (performance.now() < end) {
        const sentAt = performance.now();
        const status = await fleet.ask(0, key.secret).catch(isBroken);
        if (status === 200) served.push({ sentAt, answeredAt: performance.now() });
        else if (status !== undefined) {
          assert.equal(status, 429);
          refused += 1;
        }
        await delay(PAUSE_MS);
      }
    }),
  );

  clearInterval(killing);

  // A request counts at some moment between its start and its answer. Requests entirely within a window count in it.
  let most = 0;
  for (const { sentAt } of served) {
    const inside = served.filter((one) => one.sentAt >= sentAt && one.answeredAt < sentAt + WINDOW_MS).length;
    most = Math.max(most, inside);
  }
  assert.ok(most <= limit, `${most} were served within 60 seconds, and ${limit} are allowed`);
  // The requests that a killed process was about to answer have counted.
  const due = limit * Math.floor(seconds / 60) - 4 * kills;
  assert.ok(served.length >= due, `${served.length} were served in ${seconds} s, and ${due} were due`);
  log(
    `${served.length} served and ${refused} refused in ${seconds} s at ${limit} in any 60 s; at most ${most} in any 60 s; ${kills} processes killed`,
  );
  return [];
}
