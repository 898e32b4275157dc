import { startFleet } from './gateway-fleet.ts';
import { killUnderLoad } from './gateway-kills.ts';

// Kills the gateway processes of one port in turn while requests are served.
//
//   node tests/drills/kill-gateways.ts [kills]

const kills = Number(process.argv[2] ?? 20);
await using fleet = await startFleet({ onOnePort: true });
const { answered, broken, settled, providerAnswered } = await killUnderLoad(fleet, kills);
process.stdout.write(
  `${kills} kills: ${answered} requests answered and ${broken} broken; the provider answered ${providerAnswered}, and ${settled} are settled, each once\n`,
);
