import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { cookieOf, insertAccounts } from './analytics/accounts.ts';
import { startApi } from './analytics/api-process.ts';
import { END_MICROS, fillTelemetry } from './analytics/fill.ts';
import { residentBytes, watchResident } from './analytics/resident.ts';
import { openBenchStores, rowsOf } from './analytics/stores.ts';

// The longest answers: a series of one second over ten years, and the whole request log as CSV, of an
// organisation with ten million requests. Their speed, and the memory of the API and the engine meanwhile, for a
// fast reader and for a slow one that leaves before the end. Linux only.
//
//   node bench/analytics-stream.ts [--rows 10000000] [--dir <folder>] [--slow-seconds 30] [--log-seconds 60]

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '10000000' },
    dir: { type: 'string' },
    'slow-seconds': { type: 'string', default: '30' },
    // The whole log as CSV takes minutes, and its first minute is like the others.
    'log-seconds': { type: 'string', default: '60' },
  },
});
const rows = Number(values.rows);
const slowMs = Number(values['slow-seconds']) * 1000;
const logMs = Number(values['log-seconds']) * 1000;
const DAYS = 3_650;
const SLOW_BYTES = 512 * 1024;
const SLOW_PAUSE_MS = 100;

const SERIES = '/api/analytics/timeseries?metric=volume&interval=1s&group_by=model&time_range=3650d';
const CSV = { accept: 'text/csv' };
const LOG = '/api/analytics/requests?time_range=3650d';

interface Taken {
  readonly firstByteMs: number;
  readonly seconds: number;
  readonly bytes: number;
  readonly answerRows: number;
}

type Read = (incoming: IncomingMessage, seen: (chunk: Buffer) => void) => Promise<void>;

const readAll: Read = async (incoming, seen) => {
  for await (const chunk of incoming) seen(chunk as Buffer);
};

/** Reads until its time is over, a slow reader with a pause after each half megabyte, then closes the connection. */
const readFor =
  (ms: number, isSlow: boolean): Read =>
  async (incoming, seen) => {
    const end = performance.now() + ms;
    let sinceRest = 0;
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      seen(chunk);
      sinceRest += chunk.length;
      if (performance.now() > end) return;
      if (!isSlow || sinceRest < SLOW_BYTES) continue;
      sinceRest = 0;
      await delay(SLOW_PAUSE_MS);
    }
  };

async function take(port: number, path: string, headers: Record<string, string>, read: Read): Promise<Taken> {
  const startedAt = performance.now();
  const outgoing = request({ host: '127.0.0.1', port, path, headers, agent: false });
  outgoing.end();
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  if (incoming.statusCode !== 200) throw new Error(`${path} answered ${incoming.statusCode}`);
  const mark = headers['accept'] === 'text/csv' ? '\n' : '{';
  let firstByteMs = 0;
  let bytes = 0;
  let answerRows = -1;
  await read(incoming, (chunk) => {
    firstByteMs ||= performance.now() - startedAt;
    bytes += chunk.length;
    for (let index = chunk.indexOf(mark); index !== -1; index = chunk.indexOf(mark, index + 1))
      answerRows += 1;
  });
  const seconds = (performance.now() - startedAt) / 1000;
  incoming.destroy();
  return { firstByteMs, seconds, bytes, answerRows };
}

const megabytes = (bytes: number) => (bytes / 1e6).toFixed(0);
const row = (...cells: (string | number)[]) => process.stdout.write(`| ${cells.join(' | ')} |\n`);

await using stores = await openBenchStores(values.dir);
const database = `bench_stream_${rows}`;
await fillTelemetry(stores, { database, rows, days: DAYS, organizations: 1 });
await using client = stores.connect(database);
await insertAccounts(stores.owner, client, database);
const [organization] = await rowsOf<{ id: string }>(
  client,
  'SELECT any(organization_id) AS id FROM request_log',
);
const cookie = cookieOf(organization?.id ?? '');

const head = [
  `${rows / 1e6} M requests over ten years`,
  'rows',
  'MB',
  'seconds',
  'rows/s',
  'MB/s',
  'first byte, ms',
  'API before, MB',
  'at most',
  'more',
  'engine before, MB',
  'at most',
  'queries left in the engine 1 s later',
];
row(...head);
row(...head.map(() => '---'));
const readers: readonly [string, string, Record<string, string>, Read][] = [
  ['series of 1 s, read as it comes', SERIES, {}, readAll],
  [`series of 1 s, read slowly, left after ${slowMs / 1000} s`, SERIES, {}, readFor(slowMs, true)],
  [`request log as CSV, left after ${logMs / 1000} s`, LOG, CSV, readFor(logMs, false)],
  [`request log as CSV, read slowly, left after ${slowMs / 1000} s`, LOG, CSV, readFor(slowMs, true)],
];
for (const [name, path, headers, read] of readers) {
  // A new process for each, so that the memory of one reader does not count for the next.
  await using api = await startApi({
    control: stores.control,
    telemetry: stores.telemetry,
    telemetryDatabase: database,
    nowMicros: String(END_MICROS),
  });
  const signedIn = { ...headers, cookie };
  await take(api.port, path.replace('3650d', '1h'), signedIn, readAll);
  await delay(1_000);
  const pids = [api.pid, stores.enginePid() ?? 0];
  const before = pids.map(residentBytes);
  using watch = watchResident(pids);
  const taken = await take(api.port, path, signedIn, read);
  await delay(1_000);
  const [left] = await rowsOf<{ running: number }>(
    client,
    `SELECT count() - 1 AS running FROM system.processes`,
  );
  const peaks = watch.peaks();
  row(
    name,
    taken.answerRows,
    megabytes(taken.bytes),
    taken.seconds.toFixed(1),
    Math.round(taken.answerRows / taken.seconds),
    (taken.bytes / 1e6 / taken.seconds).toFixed(1),
    taken.firstByteMs.toFixed(0),
    megabytes(before[0] ?? 0),
    megabytes(peaks[0] ?? 0),
    megabytes((peaks[0] ?? 0) - (before[0] ?? 0)),
    megabytes(before[1] ?? 0),
    megabytes(peaks[1] ?? 0),
    left?.running ?? '?',
  );
}
