import { trial } from './credit-trials.ts';
import type { Drill, DrillSettings } from './drill.ts';
import { startFleet } from './gateway-fleet.ts';

// Two hundred concurrent requests against a limit that covers one hundred, over two gateways, repeatedly.

export const drill: Drill = (settings) => run(settings, false);
export const drillOnOnePort: Drill = (settings) => run(settings, true);

async function run({ cycles: trials, log }: DrillSettings, onOnePort: boolean): Promise<readonly string[]> {
  await using fleet = await startFleet({ onOnePort });
  const served: number[] = [];
  for (let number = 1; number <= trials; number += 1) {
    served.push(await trial(fleet));
    if (number % 20 === 0) log(`${number} trials`);
  }
  log(
    `${trials} trials of 200 requests against a limit worth 100: at least ${Math.min(...served)} and at most ${Math.max(...served)} served, never more spent than the limit`,
  );
  return [];
}
