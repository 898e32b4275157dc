import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Drill } from './drill.ts';
import { runKeyChanges, type Speed } from './key-drill.ts';

// Mints, updates and revokes the keys of one organisation from many clients over two processes of the API, checks that
// one serial order explains every answer, and prints the rate beside that of the statements alone.

const clients = 64;

export const drill: Drill = async ({ cycles: requests, seed, log }) => {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-drill-'));
  try {
    log(`${requests} requests of ${clients} clients, seed ${seed}`);
    const { checked, api, bare } = await runKeyChanges(
      join(directory, 'data'),
      { requests, clients, seed },
      [16, 8, 2],
    );
    log(
      `every answer is explained: ${checked.changes} changes, ${checked.refusals} refusals, ${checked.byBudget} of them by the budget; no 5xx`,
    );
    const row = (what: string, { perSecond, p50Ms, p99Ms }: Speed) =>
      `| ${what} | ${perSecond.toFixed(0)} | ${p50Ms.toFixed(1)} | ${p99Ms.toFixed(1)} | ${(perSecond / api.perSecond).toFixed(2)} |`;
    log(
      `| ${requests} changes of one organisation's keys, ${clients} at once | changes/s | p50 ms | p99 ms | ratio |\n|---|---|---|---|---|`,
    );
    log(row('two processes of the API', api));
    for (const { connections, ...alone } of bare)
      log(row(`the statements alone, ${connections} connections`, alone));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  return [];
};
