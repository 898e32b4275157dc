import type { Drill, DrillSettings } from '../drill.ts';
import { type FleetOptions, type NodesFleet, startNodes, withoutFleet } from './fleet.ts';

/** A drill over a fleet. It is left out, with the reason, where no fleet can be started. */
export function overFleet(
  run: (fleet: NodesFleet, settings: DrillSettings) => Promise<readonly string[]>,
  options: FleetOptions = {},
): Drill {
  return async (settings) => {
    const missing = withoutFleet(options);
    if (missing !== undefined) {
      settings.log(`skipped: ${missing}`);
      return [];
    }
    await using fleet = await startNodes(options);
    settings.log(fleet.description);
    return await run(fleet, settings);
  };
}
