import type { Drill, DrillSettings } from '../drill.ts';
import { runImage } from './image.ts';
import { type Engine, makeBaseImages, openEngine, whyNoContainers } from './podman.ts';
import { runSmallNode } from './small-node.ts';
import { runUnits } from './systemd.ts';

/** A form of production, run as docs/deployment.md has it. Resolves with the promises that were broken. */
export type DeploymentPart = (engine: Engine, settings: DrillSettings) => Promise<readonly string[]>;

const PARTS: Readonly<Record<string, DeploymentPart>> = {
  image: runImage,
  'small-node': runSmallNode,
  systemd: runUnits,
};

export const drill: Drill = async (settings) => {
  const reason = await whyNoContainers();
  if (reason !== undefined) {
    settings.log(`skipped: no container can be run here: ${reason}`);
    return [];
  }
  await using engine = await openEngine();
  await makeBaseImages(engine);
  const broken: string[] = [];
  for (const [name, run] of Object.entries(PARTS))
    if (settings.only === undefined || settings.only === name) {
      const said = await run(engine, { ...settings, log: (line) => settings.log(`${name}: ${line}`) });
      broken.push(...said.map((line) => `${name}: ${line}`));
    }
  return broken;
};
