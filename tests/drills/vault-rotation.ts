import { rotationDrill } from './vault-load.ts';

// Rotates the master key of a vault repeatedly under load, and kills the rotation repeatedly.
//
//   node tests/drills/vault-rotation.ts [records] [kills]

const records = Number(process.argv[2] ?? 20_000);
const kills = Number(process.argv[3] ?? 20);
const startedAt = performance.now();
const outcome = await rotationDrill(records, kills);
process.stdout.write(
  `${records} records, ${kills} kills, ${outcome.midway} of them between two keys, and ${outcome.finished} rotations that ended first: ${outcome.readings} readings and ${outcome.writings} changes meanwhile, none failed; all records open, none under an old key (${((performance.now() - startedAt) / 1000).toFixed(0)} s)\n`,
);
