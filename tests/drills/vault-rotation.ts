import type { Drill } from './drill.ts';
import { rotationDrill } from './vault-load.ts';

// Rotates the master key of a vault repeatedly under load, and kills the rotation repeatedly.

const records = 20_000;

export const drill: Drill = async ({ cycles: kills, log }) => {
  const startedAt = performance.now();
  const outcome = await rotationDrill(records, kills);
  log(
    `${records} records, ${kills} kills, ${outcome.midway} of them with records under both keys; ${outcome.finished} rotations ended before their kill; ${outcome.readings} reads and ${outcome.writings} changes meanwhile, none failed; every record can be decrypted, none is under an old key (${((performance.now() - startedAt) / 1000).toFixed(0)} s)`,
  );
  return [];
};
