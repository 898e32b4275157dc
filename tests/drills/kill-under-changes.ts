import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkOneToOne, nothingTold, oneRound } from './changes-load.ts';

// Kills the service repeatedly under a load of changes, and each time compares the changes with the activity log.
// Every third time the database server is killed with it.
//
//   node tests/drills/kill-under-changes.ts [rounds]

const rounds = Number(process.argv[2] ?? 60);
const directory = await mkdtemp(join(tmpdir(), 'gatehouse-drill-'));
const told = nothingTold();
try {
  let balance = { changes: 0n, entries: 0n };
  for (let round = 1; round <= rounds; round += 1) {
    await oneRound(join(directory, 'data'), told, round % 3 === 0);
    balance = await checkOneToOne(join(directory, 'data'), told);
    process.stdout.write(`round ${round}: ${balance.changes} changes, ${balance.entries} entries\n`);
  }
  const acknowledged = [...told.acknowledged.values()].reduce((sum, count) => sum + count, 0);
  process.stdout.write(
    `${rounds} kills: ${balance.changes} changes with rows of their own and as many entries; ${acknowledged} changes were acknowledged, all of them there; ${told.cutOff} requests were cut off\n`,
  );
} finally {
  await rm(directory, { recursive: true, force: true });
}
