import type { Drill, DrillSettings } from './drill.ts';
import { startFleet } from './gateway-fleet.ts';
import { nothingTold, race } from './revocation-races.ts';

// Revokes keys while they are in use on two gateways. No request that began after the answer may be served.

const AT_ONCE = 3;

export const drill: Drill = (settings) => run(settings, false);
export const drillOnOnePort: Drill = (settings) => run(settings, true);

async function run({ cycles: races, log }: DrillSettings, onOnePort: boolean): Promise<readonly string[]> {
  const told = nothingTold();
  await using fleet = await startFleet({ onOnePort });
  let next = 0;
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (next < races) {
        next += 1;
        await race(fleet, told, next);
        if (told.races % 500 === 0) {
          const seconds = (performance.now() - startedAt) / 1000;
          log(`${told.races} races, ${seconds.toFixed(0)} s`);
        }
      }
    }),
  );
  log(
    `${told.races} keys revoked: ${told.served} requests served, ${told.servedMeanwhile} of them in flight when the DELETE was answered; ${told.refused} refused; none that began later was served`,
  );
  return [];
}
