import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { type Journal, openJournal, telemetryFor } from '@gatehouse/gateway/journal';
import { insertRequestLog, type RequestLogRow } from '@gatehouse/store';
import { pino } from 'pino';
import { cookieOf, insertAccounts } from './analytics/accounts.ts';
import { startApi } from './analytics/api-process.ts';
import { DAYS, databaseOf, END_MICROS, fillTelemetry } from './analytics/fill.ts';
import { cloneTelemetry, plainTelemetry } from './analytics/ingested-tables.ts';
import { quantile } from './analytics/quantiles.ts';
import { finishedRequests } from './analytics/requests.ts';
import { type BenchStores, openBenchStores } from './analytics/stores.ts';
import { findSubjects, type Subject } from './analytics/subjects.ts';

// How many finished requests a second reach the telemetry store through a gateway's journal: appended as
// fast as possible, settled in PostgreSQL, shipped. The references, alternating: the same batches inserted
// directly, and into a table without hourly rollups and without the view. Each alone, and while 20 clients query
// analytics over HTTP, one query after the other.
//
//   node bench/ingestion.ts [--rows 10000000] [--requests 200000] [--rounds 3] [--readers 20] [--dir <folder>]

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '10000000' },
    requests: { type: 'string', default: '200000' },
    rounds: { type: 'string', default: '3' },
    readers: { type: 'string', default: '20' },
    dir: { type: 'string' },
  },
});
const [rows, count, rounds, readers] = [values.rows, values.requests, values.rounds, values.readers].map(
  Number,
) as [number, number, number, number];
const APPENDERS = 256;
const BATCH_ROWS = 10_000;

interface Taken {
  readonly rowsPerSecond: number;
  /** Latencies of the analytics queries answered meanwhile, in ms. */
  readonly reads: readonly number[];
}

type Way = (stores: BenchStores, subject: Subject) => Promise<number>;

/** Through the journal: seconds from the first append until the last row is stored. */
const throughJournal =
  (target: string): Way =>
  async (stores, subject) => {
    const directory = await mkdtemp(join(stores.directory, 'journal-'));
    await using client = stores.connect(target);
    const journal = await openJournal({
      directory,
      database: stores.owner,
      log: pino({ level: 'silent' }),
      flushTimeoutMs: 600_000,
      ...telemetryFor(client, target),
    });
    try {
      const requests = finishedRequests(subject, count);
      const startedAt = performance.now();
      await appendAll(journal, requests);
      while (journal.stats().telemetryBacklog > 0) await new Promise((resolve) => setTimeout(resolve, 5));
      return (performance.now() - startedAt) / 1000;
    } finally {
      await journal[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
    }
  };

async function appendAll(journal: Journal, requests: ReturnType<typeof finishedRequests>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: APPENDERS }, async () => {
      for (let one = requests[next++]; one; one = requests[next++]) await journal.append(one);
    }),
  );
}

/** Directly, one batch after the other, each as large as the journal's largest. */
const inBatches =
  (target: string): Way =>
  async (stores, subject) => {
    await using client = stores.connect(target);
    const batches: RequestLogRow[][] = [];
    const requests = finishedRequests(subject, count);
    for (let from = 0; from < requests.length; from += BATCH_ROWS)
      batches.push(requests.slice(from, from + BATCH_ROWS));
    const startedAt = performance.now();
    for (const batch of batches) {
      await insertRequestLog(client, batch, { token: batch[0]?.requestId ?? '', database: target });
    }
    return (performance.now() - startedAt) / 1000;
  };

async function whileReading(
  work: () => Promise<number>,
  port: number | undefined,
  subjects: readonly Subject[],
): Promise<Taken> {
  if (port === undefined) return { rowsPerSecond: count / (await work()), reads: [] };
  const worker = new Worker(join(import.meta.dirname, 'analytics', 'readers.ts'), {
    workerData: {
      port,
      readers,
      accounts: subjects.map(({ organizationId, keyIds }) => ({
        cookie: cookieOf(organizationId),
        keyId: keyIds[0],
      })),
    },
  });
  await once(worker, 'message');
  const seconds = await work();
  worker.postMessage('stop');
  const [reads] = (await once(worker, 'message')) as [number[]];
  return { rowsPerSecond: count / seconds, reads };
}

const row = (...cells: (string | number)[]) => process.stdout.write(`| ${cells.join(' | ')} |\n`);

await using stores = await openBenchStores(values.dir);
await mkdir(stores.directory, { recursive: true });
const source = databaseOf(rows);
await fillTelemetry(stores, { database: source, rows, days: DAYS, organizations: 100 });
await using client = stores.connect(source);
await insertAccounts(stores.owner, client, source);
const subjects = await findSubjects(client, source, []);
const [largest] = subjects;
if (!largest) throw new Error('there is no organisation');

// Rows go into copies of the table, so that the filled store does not change.
await using full = await cloneTelemetry(stores, source, 'bench_ingested');
await using plain = await plainTelemetry(stores, source, 'bench_ingested_plainly');
const ways: readonly (readonly [name: string, way: Way])[] = [
  ['through the journal', throughJournal(full.database)],
  ['the same batches directly', inBatches(full.database)],
  ['directly, without hourly rollups and view', inBatches(plain.database)],
];

await using api = await startApi({
  control: stores.control,
  telemetry: stores.telemetry,
  telemetryDatabase: full.database,
  nowMicros: String(END_MICROS),
});
const taken = new Map<string, Taken[]>();
for (let round = 0; round < rounds; round += 1) {
  for (const port of [undefined, api.port]) {
    for (const [name, way] of ways) {
      const label = `${name}${port === undefined ? '' : `, while ${readers} clients read`}`;
      const one = await whileReading(() => way(stores, largest), port, subjects);
      taken.set(label, [...(taken.get(label) ?? []), one]);
    }
  }
}
row(`${count} requests into a store of ${rows / 1e6} M`, 'rows/s', 'ratio', 'answers/s', 'p50 ms', 'p95 ms');
row('---', '---', '---', '---', '---', '---');
let reference = Number.NaN;
for (const [label, all] of taken) {
  const perSecond = quantile(
    all.map((one) => one.rowsPerSecond),
    0.5,
  );
  if (label === ways[0]?.[0]) reference = perSecond;
  const reads = all.flatMap((one) => one.reads);
  const seconds = all.reduce((sum, one) => sum + count / one.rowsPerSecond, 0);
  row(
    label,
    perSecond.toFixed(0),
    (perSecond / reference).toFixed(2),
    ...(reads.length === 0
      ? ['', '', '']
      : [
          (reads.length / seconds).toFixed(0),
          quantile(reads, 0.5).toFixed(0),
          quantile(reads, 0.95).toFixed(0),
        ]),
  );
}
