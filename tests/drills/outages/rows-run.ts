import { setTimeout as delay } from 'node:timers/promises';
import { whyNot } from './apply-outage.ts';
import { checkClocks } from './clock-checks.ts';
import { judge, keptOf } from './judge.ts';
import { detailsOf, tableRowOf } from './report.ts';
import type { Row } from './rows.ts';
import { runRow } from './run-row.ts';
import { openStand, type Stand } from './stand.ts';

export interface RunOptions {
  readonly rows: readonly Row[];
  /** The duration of each outage. */
  readonly seconds: number;
  readonly isIsolated: boolean;
  /** True if the service is stopped at the end while no store answers. */
  readonly stops: boolean;
  log(line: string): void;
}

// The service has noticed that its clock is wrong.
const CLOCK_SET_MS = 500;
const STOP_LIMIT_MS = 60_000;

/** Runs the rows one after the other on one service, which is never restarted. Returns the promises that were broken. */
export async function runRows({
  rows,
  seconds,
  isIsolated,
  stops,
  log,
}: RunOptions): Promise<readonly string[]> {
  const broken: string[] = [];
  const table: string[] = [];
  await using stand = await openStand({ isIsolated });
  for (const row of rows) {
    const reason = whyNot(stand, row.outage);
    if (reason !== undefined) {
      log(`${row.name}: skipped: ${reason}`);
      continue;
    }
    const linesBefore = stand.service.logLines.length;
    const clocks =
      row.outage.kind === 'clock' && row.outage.shiftsMs.length === 1
        ? delay(CLOCK_SET_MS + 2_000).then(() => checkClocks(stand, shiftOf(row)))
        : Promise.resolve([]);
    clocks.catch(() => undefined);
    const run = await runRow(stand, row, seconds);
    const judged = judge(run);
    const ofRow = [...judged.broken, ...(await clocks)];
    const kept = await keptOf(stand, run.asked, ofRow);
    ofRow.push(...endedProcesses(stand, linesBefore), ...missingEvent(stand, row, linesBefore));
    log(`${row.name}: ${ofRow.length === 0 ? 'held' : 'BROKEN'}`);
    for (const line of detailsOf(judged)) log(line);
    log(`  events: ${eventsOf(stand, linesBefore)}`);
    for (const one of ofRow) log(`  BROKEN: ${one}`);
    broken.push(...ofRow.map((one) => `${row.name}: ${one}`));
    table.push(tableRowOf(run, judged, kept));
  }
  if (stops) broken.push(...(await stopsWhileSilent(stand, log)));
  log(
    '| row | answers, and the longest wait | last failure after the end | memory | changes + requests kept |',
  );
  log('|---|---|---|---|---|');
  for (const line of table) log(line);
  return broken;
}

function shiftOf({ outage }: Row): number {
  return outage.kind === 'clock' ? (outage.shiftsMs[0] ?? 0) : 0;
}

function endedProcesses({ service }: Stand, from: number): readonly string[] {
  const ended = service.logLines.slice(from).filter(({ event }) => event === 'gateway.process_ended').length;
  return [
    ...(ended > 0 ? [`the gateway process ended ${ended} times`] : []),
    ...(service.child.exitCode === null && service.child.signalCode === null ? [] : ['the service ended']),
  ];
}

function missingEvent({ service }: Stand, { event }: Row, from: number): readonly string[] {
  const isLogged = service.logLines.slice(from).some((line) => line['event'] === event);
  return event === undefined || isLogged ? [] : [`${event} was not logged`];
}

/** Warnings and errors in the log, with how often each was. */
function eventsOf({ service }: Stand, from: number): string {
  const counts = new Map<string, number>();
  for (const { event, level } of service.logLines.slice(from)) {
    if (typeof event !== 'string' || Number(level) < 40) continue;
    counts.set(event, (counts.get(event) ?? 0) + 1);
  }
  return [...counts].map(([event, count]) => `${event} × ${count}`).join(', ') || 'none';
}

/** The last promise: SIGTERM ends the service while no store answers. */
async function stopsWhileSilent(
  { service, network }: Stand,
  log: RunOptions['log'],
): Promise<readonly string[]> {
  for (const part of ['postgres', 'clickhouse', 'provider'] as const)
    await network.set(part, { kind: 'black-holed' });
  const startedAt = performance.now();
  const code = await Promise.race([service.end('SIGTERM'), delay(STOP_LIMIT_MS)]);
  log(
    `stop: after ${((performance.now() - startedAt) / 1_000).toFixed(1)} s with ${code}, while no store answers`,
  );
  if (code === undefined) service.child.kill('SIGKILL');
  return code === 0 ? [] : [`stop: the service ended with ${code ?? 'nothing within 60 s'}`];
}
