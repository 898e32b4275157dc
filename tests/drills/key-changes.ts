import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runKeyChanges, type Speed } from './key-drill.ts';

// Mints, updates and revokes the keys of one organisation from many clients over two processes of the API, checks that
// one serial order explains every answer, and prints the rate beside that of the statements alone.
//
//   node tests/drills/key-changes.ts [requests] [clients] [seed]

const [requests = 10_000, clients = 64, seed = Date.now() % 1_000_000] = process.argv.slice(2).map(Number);

const directory = await mkdtemp(join(tmpdir(), 'gatehouse-drill-'));
try {
  process.stdout.write(`${requests} requests of ${clients} clients, seed ${seed}\n`);
  const { checked, api, bare } = await runKeyChanges(
    join(directory, 'data'),
    { requests, clients, seed },
    [16, 8, 2],
  );
  process.stdout.write(
    `every answer is explained: ${checked.changes} changes, ${checked.refusals} refusals, ${checked.byBudget} of them by the budget; no 5xx\n\n`,
  );
  const row = (what: string, { perSecond, p50Ms, p99Ms }: Speed) =>
    `| ${what} | ${perSecond.toFixed(0)} | ${p50Ms.toFixed(1)} | ${p99Ms.toFixed(1)} | ${(perSecond / api.perSecond).toFixed(2)} |\n`;
  process.stdout.write(
    `| ${requests} changes of one organisation's keys, ${clients} at once | changes/s | p50 ms | p99 ms | ratio |\n|---|---|---|---|---|\n`,
  );
  process.stdout.write(row('two processes of the API', api));
  for (const { connections, ...alone } of bare)
    process.stdout.write(row(`the statements alone, ${connections} connections`, alone));
} finally {
  await rm(directory, { recursive: true, force: true });
}
