import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedPostgres } from '@gatehouse/embedded';
import type { Drill, DrillSettings } from './drill.ts';
import { type Failure, STEPS, simulateMany } from './ledger-simulation.ts';

// Simulates histories of the ledger on the real database and compares it with a model after every step.
// ledger-simulation.ts describes a history. Seeds count up from the given one.

export const drill: Drill = async (settings) => {
  settings.log(`${settings.cycles} histories of ${STEPS} steps`);
  const failure = await run(settings);
  if (!failure) {
    settings.log('no history contradicts the model or its own rows');
    return [];
  }
  const { seed, step, message, trace } = failure;
  const again = `npm run drill -- ledger-histories --cycles 1 --seed ${seed}`;
  return [[`step ${step + 1}: ${message} (again: ${again})`, ...trace].join('\n')];
};

async function run(settings: DrillSettings): Promise<Failure | undefined> {
  if (process.env['GATEHOUSE_TEST_SERVERS'] !== undefined) return simulate(settings);
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-ledger-'));
  try {
    await using postgres = await openEmbeddedPostgres({ dataDir: directory });
    process.env['GATEHOUSE_TEST_SERVERS'] = JSON.stringify({ postgres: postgres.connection });
    return await simulate(settings);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function simulate({ cycles, seed, log }: DrillSettings): Promise<Failure | undefined> {
  return simulateMany({
    histories: cycles,
    firstSeed: seed,
    onProgress: ({ done, seconds }) => log(`${done} histories, ${seconds.toFixed(0)} s`),
  });
}
