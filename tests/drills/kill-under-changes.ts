import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkOneToOne, nothingTold, oneRound } from './changes-load.ts';
import type { Drill } from './drill.ts';

// Kills the service repeatedly under a load of changes, and each time compares the changes with the activity log.
// Every third time the database server is killed with it.

export const drill: Drill = async ({ cycles: rounds, log }) => {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-drill-'));
  const told = nothingTold();
  try {
    let balance = { changes: 0n, entries: 0n };
    for (let round = 1; round <= rounds; round += 1) {
      await oneRound(join(directory, 'data'), told, round % 3 === 0);
      balance = await checkOneToOne(join(directory, 'data'), told);
      log(`round ${round}: ${balance.changes} changes, ${balance.entries} entries`);
    }
    const acknowledged = [...told.acknowledged.values()].reduce((sum, count) => sum + count, 0);
    log(
      `${rounds} kills: ${balance.changes} changes with rows of their own and as many entries; ${acknowledged} changes were acknowledged, all of them there; ${told.cutOff} requests were cut off`,
    );
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  return [];
};
