import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestApi } from '@gatehouse/control-plane/testing';
import { openEmbeddedPostgres } from '@gatehouse/embedded';
import type { Drill } from './drill.ts';
import { raceLimitsAndSettlements, raceRevocations, raceUpdatesAndRevocations } from './key-races.ts';

// Races an update of a key against a settlement and against a revocation, and fifty revocations against each other.

export const drill: Drill = async ({ cycles: rounds, seed, log }) => {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-drill-'));
  try {
    await using server = await openEmbeddedPostgres({ dataDir: directory });
    process.env['GATEHOUSE_TEST_SERVERS'] = JSON.stringify({ postgres: server.connection });
    await using api = await startTestApi();
    const limits = await raceLimitsAndSettlements(api, rounds, seed);
    log(
      `${rounds} limits against settlements: ${limits.accepted} set, ${limits.refused} refused, none below what was spent`,
    );
    const updates = await raceUpdatesAndRevocations(api, rounds, seed);
    log(
      `${rounds} updates against revocations: ${updates.updated} came first, ${updates.gone} found the key revoked, none is in the log after the revocation`,
    );
    for (let round = 0; round < 20; round += 1) await raceRevocations(api, 50);
    log('20 times 50 revocations of one key: one succeeded each time, with one entry');
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  return [];
};
