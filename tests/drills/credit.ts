import { trial } from './credit-trials.ts';
import { drillArguments, startFleet } from './gateway-fleet.ts';

// Two hundred concurrent requests against a limit that covers one hundred, over two gateways, repeatedly.
//
//   node tests/drills/credit.ts [trials] [--one-port]

const { count: trials, onOnePort } = drillArguments(200);
await using fleet = await startFleet({ onOnePort });
const served: number[] = [];
for (let number = 1; number <= trials; number += 1) {
  served.push(await trial(fleet));
  if (number % 20 === 0) process.stdout.write(`${number} trials\n`);
}
process.stdout.write(
  `${trials} trials of 200 requests against a limit worth 100: at least ${Math.min(...served)} and at most ${Math.max(...served)} served, never more spent than the limit\n`,
);
