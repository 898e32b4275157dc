import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestApi } from '@gatehouse/control-plane/testing';
import { openEmbeddedPostgres } from '@gatehouse/embedded';
import { raceLimitsAndSettlements, raceRevocations, raceUpdatesAndRevocations } from './key-races.ts';

// Races an update of a key against a settlement and against a revocation, and fifty revocations against each other.
//
//   node tests/drills/key-race-rounds.ts [rounds] [seed]

const [rounds = 1_000, seed = Date.now() % 1_000_000] = process.argv.slice(2).map(Number);

const directory = await mkdtemp(join(tmpdir(), 'gatehouse-drill-'));
try {
  await using server = await openEmbeddedPostgres({ dataDir: directory });
  process.env['GATEHOUSE_TEST_SERVERS'] = JSON.stringify({ postgres: server.connection });
  await using api = await startTestApi();
  process.stdout.write(`seed ${seed}\n`);
  const limits = await raceLimitsAndSettlements(api, rounds, seed);
  process.stdout.write(
    `${rounds} limits against settlements: ${limits.accepted} set, ${limits.refused} refused, none below what was spent\n`,
  );
  const updates = await raceUpdatesAndRevocations(api, rounds, seed);
  process.stdout.write(
    `${rounds} updates against revocations: ${updates.updated} before, ${updates.gone} found the key gone, none in the log after it\n`,
  );
  for (let round = 0; round < 20; round += 1) await raceRevocations(api, 50);
  process.stdout.write('20 times 50 revocations of one key: one succeeded each time, with one entry\n');
} finally {
  await rm(directory, { recursive: true, force: true });
}
