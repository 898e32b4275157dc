import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedPostgres } from '@gatehouse/embedded';
import { liveMany } from './credit-history.ts';
import type { Drill } from './drill.ts';

// Random histories of credit over two gateways, checked against the rules. credit-history.ts describes a history.
// Seeds count up from the given one.

export const drill: Drill = async ({ cycles: histories, seed: firstSeed, log }) => {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-credit-'));
  try {
    await using postgres = await openEmbeddedPostgres({ dataDir: directory });
    process.env['GATEHOUSE_TEST_SERVERS'] = JSON.stringify({ postgres: postgres.connection });
    const { failure, tally } = await liveMany({ histories, firstSeed });
    log(JSON.stringify(tally));
    if (!failure) return [];
    const again = `npm run drill -- credit-histories --cycles 1 --seed ${failure.seed}`;
    return [[`${failure.message} (again: ${again})`, ...failure.trace].join('')];
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
};
