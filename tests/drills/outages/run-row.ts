import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { applyOutage } from './apply-outage.ts';
import { callersOf } from './callers.ts';
import { type Asked, KINDS, type Kind, startLoad } from './load.ts';
import type { Row } from './rows.ts';
import type { Stand } from './stand.ts';

// One row: callers ask, the outage begins, it ends, and callers ask on until everything succeeds again.

export interface RowRun {
  readonly row: Row;
  readonly asked: readonly Asked[];
  /** By the clock of `performance.now`. */
  readonly begunAtMs: number;
  readonly endedAtMs: number;
  readonly hasRecovered: boolean;
  /** The memory of all processes of the service, before and at the most. */
  readonly memoryMib: { readonly before: number; readonly most: number };
}

const BEFORE_MS = 2_000;
const MAX_RECOVERY_MS = 60_000;
const LOOK_MS = 200;
// This many successes in a row say that a kind of request works again.
const SUCCESSES = 3;

export async function runRow(stand: Stand, row: Row, seconds: number): Promise<RowRun> {
  const isOfGoogle = row.outage.kind === 'network' && row.outage.part === 'google';
  const callers = (await callersOf(stand)).filter(({ kind }) => kind !== 'google' || isOfGoogle);
  const before = await memoryMib(stand);
  let most = before;
  const watching = setInterval(async () => {
    most = Math.max(most, await memoryMib(stand));
  }, LOOK_MS);
  const load = startLoad(callers);
  try {
    await delay(BEFORE_MS);
    const begunAtMs = performance.now();
    await applyOutage(stand, row.outage, seconds);
    const endedAtMs = performance.now();
    const hasRecovered = await recovers(
      callers.map(({ kind }) => kind),
      load.asked,
      endedAtMs,
    );
    await load.stop();
    return { row, asked: load.asked, begunAtMs, endedAtMs, hasRecovered, memoryMib: { before, most } };
  } finally {
    clearInterval(watching);
    await load.stop();
  }
}

async function recovers(
  kinds: readonly Kind[],
  asked: readonly Asked[],
  endedAtMs: number,
): Promise<boolean> {
  const works = (kind: Kind) => {
    const last = asked.filter((one) => one.kind === kind && one.startedAtMs > endedAtMs).slice(-SUCCESSES);
    return last.length === SUCCESSES && last.every(({ failure }) => failure === undefined);
  };
  while (performance.now() < endedAtMs + MAX_RECOVERY_MS) {
    if (KINDS.every((kind) => !kinds.includes(kind) || works(kind))) return true;
    await delay(LOOK_MS);
  }
  return false;
}

/** The resident memory of the service and of its gateway process. */
async function memoryMib({ service }: Stand): Promise<number> {
  const started = service.logLines.findLast(({ event }) => event === 'gateway.process_started');
  const pids = [service.child.pid, started?.['pid']];
  let kib = 0;
  for (const pid of pids) {
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
    kib += Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0);
  }
  return kib / 1_024;
}
