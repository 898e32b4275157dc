import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { cookieOf, insertAccounts } from './analytics/accounts.ts';
import { startApi } from './analytics/api-process.ts';
import { DAYS, END_MICROS, fillTelemetry } from './analytics/fill.ts';
import { createHttpClient } from './analytics/http-client.ts';
import { BROWSER_CONNECTIONS, openPage, PAGES, type PageCall, recordCalls } from './analytics/pages.ts';
import { type BenchStores, openBenchStores, rowsOf } from './analytics/stores.ts';

// What the calls of a dashboard cost over HTTP, for one organisation with many requests in 90 days: the time to the complete
// answer, and the processor time of the engine, which depends less on what else the machine does. The least of some rounds.
//
//   node bench/analytics-reports.ts [--rows 5000000] [--dir <folder>] [--rounds 6] [--only <pattern>] [--pages] [--calls]
//
// --pages measures whole pages of the dashboard: all calls that one makes, together, as a browser makes them.
// --calls prints these calls.

const WINDOWS = ['24h', '7d', '30d', '90d'] as const;
type Window = (typeof WINDOWS)[number];
const WIDTHS: Readonly<Record<Window, string>> = { '24h': '30m', '7d': '3h', '30d': '1d', '90d': '1d' };
const SUMS = 'requests,errors,tokens,cost_pkr,avg_total_ms,avg_ttft_ms,tokens_per_sec';
const KATHMANDU = 'interval=1d&time_zone=Asia/Kathmandu';

const trend = (rest: string) => (window: Window) =>
  `/analytics/trend?time_range=${window}&interval=${WIDTHS[window]}${rest}`;
const at = (path: string) => (window: Window) => `${path}&time_range=${window}`;

const CALLS: Readonly<Record<string, (window: Window) => string>> = {
  'trend: all figures': trend(''),
  'trend: all figures but quantiles': trend(`&figures=${SUMS}`),
  'the same by model': trend(`&figures=${SUMS}&group_by=model`),
  'the same by key, days of Kathmandu': at(`/analytics/trend?${KATHMANDU}&figures=${SUMS}&group_by=key`),
  'trend: all figures by model': trend('&group_by=model&limit=5'),
  'trend: requests by error code': trend('&figures=requests&group_by=error_code&error_code=any'),
  'trend: rows of a search': trend('&figures=rows&previous=false&search=cus_00001'),
  'trend: requests by metadata with 4,000 values': trend('&figures=requests&group_by=metadata:customer'),
  'spend by model': at('/analytics/spend?interval=1d'),
  'breakdown by status': at('/analytics/breakdown?group_by=status'),
  'breakdown by error code': at('/analytics/breakdown?group_by=error_code'),
  'breakdown by model': at('/analytics/breakdown?group_by=model'),
  'breakdown by key': at('/analytics/breakdown?group_by=key'),
  'breakdown by metadata with 6 values': at('/analytics/breakdown?group_by=metadata:team'),
  'breakdown by metadata with 4,000 values': at('/analytics/breakdown?group_by=metadata:customer'),
  'sessions: 4,000 values': at('/analytics/sessions?metadata=customer'),
  'request log, errors': at('/analytics/requests?error_code=any'),
};

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '5000000' },
    dir: { type: 'string' },
    rounds: { type: 'string', default: '6' },
    only: { type: 'string', default: '' },
    pages: { type: 'boolean', default: false },
    calls: { type: 'boolean', default: false },
  },
});
const rows = Number(values.rows);
const only = new RegExp(values.only);
await using stores = await openBenchStores(values.dir);
const database = `reports_${rows}`;
await fillTelemetry(stores, { database, rows, days: DAYS, organizations: 1 });
await using client = stores.connect(null);
await insertAccounts(stores.owner, client, database);
const [found] = await rowsOf<{ id: string }>(
  client,
  `SELECT any(organization_id) AS id FROM ${database}.request_log`,
);
await using api = await startApi({
  control: stores.control,
  telemetry: stores.telemetry,
  telemetryDatabase: database,
  nowMicros: String(END_MICROS),
  // A busy machine may take longer than the service waits.
  timeoutMs: 60_000,
  ...(values.pages ? { dashboard: join(import.meta.dirname, '../dashboard/dist') } : {}),
});
const cookie = cookieOf(found?.id ?? '');
using http = createHttpClient(api.port, cookie, BROWSER_CONNECTIONS);

const print = (text: string) => process.stdout.write(`${text}\n`);
const rounds = Number(values.rounds);
// As the service does for an overview: from it the API knows how many requests the organisation makes.
await measured(() => call('/analytics/summary?time_range=24h'), 1);
print(
  `| ms in the engine (until the answer) | ${WINDOWS.join(' | ')} |\n|---|${'---|'.repeat(WINDOWS.length)}`,
);
await (values.pages ? measurePages() : measureCalls());

async function measureCalls(): Promise<void> {
  for (const [name, pathOf] of Object.entries(CALLS).filter(([name]) => only.test(name))) {
    const cells: string[] = [];
    for (const window of WINDOWS) cells.push(await measured(() => call(pathOf(window)), rounds));
    print(`| ${name} | ${cells.join(' | ')} |`);
  }
}

async function measurePages(): Promise<void> {
  const origin = `http://127.0.0.1:${api.port}`;
  const now = new Date(Number(END_MICROS / 1000n));
  for (const [name, { path, hasRange }] of Object.entries(PAGES).filter(([name]) => only.test(name))) {
    const paths = hasRange
      ? WINDOWS.map((window) => `${path}${path.includes('?') ? '&' : '?'}range=${window}`)
      : [path];
    const pages: PageCall[][] = await recordCalls(origin, cookie, paths, now);
    const cells: string[] = [];
    for (const calls of pages) cells.push(await measured(() => openPage(http, calls), rounds));
    print(`| ${name} | ${cells.join(' | ')} |${' |'.repeat(WINDOWS.length - cells.length)}`);
    if (values.calls)
      for (const { path, after } of pages.at(-1) ?? [])
        print(`    ${after === undefined ? '' : `${after} > `}${path}`);
  }
}

async function call(path: string): Promise<number> {
  const { status, ms, body } = await http.get(path);
  if (status !== 200) throw new Error(`${path} answered ${status} ${body.toString().slice(0, 300)}`);
  return ms;
}

/** The least processor time of the engine, and the least time until the answer. */
async function measured(run: () => Promise<number>, times: number): Promise<string> {
  let [processor, elapsed] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < times; round += 1) {
    const before = processorMs(stores);
    elapsed = Math.min(elapsed, await run());
    processor = Math.min(processor, processorMs(stores) - before);
  }
  return `${processor} (${elapsed.toFixed(0)})`;
}

/** The processor time of the engine so far, in ticks of 10 ms. Linux only. */
function processorMs({ enginePid }: BenchStores): number {
  const fields = readFileSync(`/proc/${enginePid()}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
