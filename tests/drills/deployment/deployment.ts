import { type Drill, type DrillSettings, runParts } from '../drill.ts';
import { runCompose } from './compose.ts';
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
  compose: runCompose,
};

export const drill: Drill = async (settings) => {
  const reason = await whyNoContainers();
  if (reason !== undefined) {
    settings.log(`skipped: no container can be run here: ${reason}`);
    return [];
  }
  await using engine = await openEngine();
  await makeBaseImages(engine);
  const parts = Object.entries(PARTS).map(([name, run]): [string, Drill] => [
    name,
    (one) => run(engine, one),
  ]);
  return await runParts(Object.fromEntries(parts), settings);
};
