import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KeyId, OrganizationId, ProjectId } from '@gatehouse/contract';
import { finishRequest } from '@gatehouse/gateway/journal';
import { encodeLine, openBareWriter, referenceLine } from '@gatehouse/gateway/testing';
import { quantile } from './analytics/quantiles.ts';
import { type FinishedRequest, finishedRequests } from './analytics/requests.ts';

// What the record of a finished request costs the main thread: made storable, encoded as a line, and appended to a segment.
// The references: JSON.stringify of the same members without checks and checksum, and the line written by hand.
//
//   node bench/journal-append.ts [rounds]
//
// Appending is measured with some records in each turn of the event loop. Processor time of this thread alone: the write itself
// is another thread's.

const rounds = Number(process.argv[2] ?? 200);
const ROWS = 250;
const APPENDED = 4_096;
const PER_TURN = [1, 4, 16];

const id = <T extends string>() => randomUUID() as string as T;
const requests = finishedRequests(
  {
    organizationId: id<OrganizationId>(),
    projectId: id<ProjectId>(),
    keyIds: [id<KeyId>(), id<KeyId>()],
    models: ['openai/gpt-5-mini', 'anthropic/claude-sonnet-4-5'],
  },
  ROWS,
);
const plain = requests.map(({ metadata, startedAtMicros, costMicroPkr, attempts, ...others }) => ({
  ...others,
  startedAtMicros: String(startedAtMicros),
  costMicroPkr: String(costMicroPkr),
  metadata: [...metadata],
  attempts: attempts.map((attempt) => ({ ...attempt, costMicroPkr: String(attempt.costMicroPkr) })),
}));

const print = (line: string) => process.stdout.write(`${line}\n`);

let kept = 0;
const each = <T>(of: readonly T[], work: (one: T) => { readonly length: number }) => {
  for (const one of of) kept += work(one).length;
};
const made = (one: FinishedRequest) => finishRequest(one).attempts;
const cases: readonly (readonly [title: string, work: () => void])[] = [
  ['finishRequest', () => each(requests, made)],
  ['encodeLine', () => each(requests, encodeLine)],
  ['the line by hand', () => each(requests, referenceLine)],
  ['JSON.stringify of the members', () => each(plain, (one) => JSON.stringify(one))],
];
const times = new Map(cases.map(([title]) => [title, [] as number[]]));
for (let round = 0; round < rounds; round += 1) {
  for (const [title, work] of cases) {
    const start = performance.now();
    work();
    times.get(title)?.push(((performance.now() - start) * 1_000) / ROWS);
  }
}
print(
  `| a record of ${plain.length > 0 ? encodeLine(requests[1] as FinishedRequest).length : 0} bytes, ${rounds} rounds of ${ROWS} | minimum µs | median µs |`,
);
print('|---|---|---|');
for (const [title, taken] of times)
  print(`| ${title} | ${Math.min(...taken).toFixed(2)} | ${quantile(taken, 0.5).toFixed(2)} |`);

/**
 * Processor time of this thread for each record, in µs, beyond that of the turns themselves: as many timers as records in
 * each turn of the event loop, each of which appends one, as requests end one after the other.
 */
async function appendCost(perTurn: number): Promise<number> {
  const root = await mkdtemp(join(tmpdir(), 'bench-journal-'));
  const writer = await openBareWriter(root);
  const lines = requests.map(encodeLine);
  await writer.append(lines[0] ?? '');
  const turns = async (append: (line: string) => Promise<void>) => {
    const waiting: Promise<void>[] = [];
    const before = process.threadCpuUsage();
    for (let n = 0; n < APPENDED; n += perTurn) {
      const { promise, resolve } = Promise.withResolvers<void>();
      for (let at = n; at < n + perTurn; at += 1)
        setTimeout(() => {
          waiting.push(append(lines[at % ROWS] ?? ''));
          if (at === n + perTurn - 1) resolve();
        }, 1);
      await promise;
    }
    await Promise.all(waiting);
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / APPENDED;
  };
  const none = await turns(async () => {});
  const all = await turns((line) => writer.append(line));
  await writer.close();
  await rm(root, { recursive: true, force: true });
  return all - none;
}

print('');
print(`| records in a turn, ${Math.ceil(rounds / 50)} rounds of ${APPENDED} | minimum µs | median µs |`);
print('|---|---|---|');
for (const perTurn of PER_TURN) {
  const taken: number[] = [];
  for (let round = 0; round < Math.ceil(rounds / 50); round += 1) taken.push(await appendCost(perTurn));
  print(`| ${perTurn} | ${Math.min(...taken).toFixed(1)} | ${quantile(taken, 0.5).toFixed(1)} |`);
}
if (kept === 0) throw new Error('nothing was measured');
