import type { Drill } from './drill.ts';
import { startFleet } from './gateway-fleet.ts';
import { killUnderLoad } from './gateway-kills.ts';

// Kills the gateway processes of one port in turn while requests are served.

export const drill: Drill = async ({ cycles: kills, log }) => {
  await using fleet = await startFleet({ onOnePort: true });
  const { answered, broken, settled, providerAnswered } = await killUnderLoad(fleet, kills);
  log(
    `${kills} kills: ${answered} requests answered and ${broken} broken; the provider answered ${providerAnswered}, and ${settled} are settled, each once`,
  );
  return [];
};
