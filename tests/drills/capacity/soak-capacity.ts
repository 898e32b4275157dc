import { setTimeout as delay } from 'node:timers/promises';
import { sampleProcesses } from './process-samples.ts';
import type { Load } from './soak-load.ts';

// Finds the rate of the soak: half of what the service takes on this machine, and no more than it may use of the processors.

/** Rates, and how long each is sent. */
export interface Ramp {
  readonly steps: readonly number[];
  readonly stepMs: number;
}

const RAMP: Ramp = { steps: [50, 100, 200, 400, 800, 1_600], stepMs: 6_000 };
const MAX_P99_MS = 1_000;
const MIN_ANSWERED = 0.95;

export interface Rate {
  /** The highest step whose requests were answered in time. */
  readonly capacity: number;
  readonly rate: number;
  readonly coresAtRate: number;
}

export async function findRate(
  load: Load,
  pid: number,
  {
    rate,
    cores,
    ramp: { steps, stepMs } = RAMP,
  }: { readonly rate?: number | undefined; readonly cores: number; readonly ramp?: Ramp },
  log: (line: string) => void,
): Promise<Rate> {
  const cpuSeconds = async () =>
    [...(await sampleProcesses(pid)).values()].reduce((sum, one) => sum + one.cpuSeconds, 0);
  const least = steps[0] ?? 0;
  // The first requests of a process are slow.
  load.rate = least;
  await delay(stepMs / 2);
  let found: Rate = { capacity: 0, rate: least, coresAtRate: Number.NaN };
  let allowed = least;
  let coresOfAllowed = 0;
  for (const step of steps) {
    load.rate = step;
    load.take();
    const [before, start] = [await cpuSeconds(), performance.now()];
    await delay(stepMs);
    const seconds = (performance.now() - start) / 1_000;
    const { sent, leftOut, answered, latenciesMs, wrong } = load.take();
    const used = ((await cpuSeconds()) - before) / seconds;
    latenciesMs.sort((a, b) => a - b);
    const p99 = latenciesMs[Math.floor(latenciesMs.length * 0.99)] ?? Number.POSITIVE_INFINITY;
    log(
      `${step}/s: ${(answered / seconds).toFixed(0)} answered, ${wrong} wrong, p99 ${p99.toFixed(0)} ms, ${used.toFixed(2)} cores`,
    );
    const perRequest = used / (answered / seconds);
    // At the higher steps a request is cheaper, because statements are shared: the estimate is on the safe side.
    allowed = Math.min(step, Math.floor(cores / perRequest));
    coresOfAllowed = allowed * perRequest;
    if (answered < MIN_ANSWERED * (sent + leftOut) || p99 > MAX_P99_MS) break;
    found = { capacity: step, rate: allowed, coresAtRate: coresOfAllowed };
    if (used > 2 * cores) {
      log(`stopped at ${step}/s: more would take the processors from other programs`);
      break;
    }
  }
  return rate === undefined
    ? { ...found, rate: Math.min(Math.floor(found.capacity / 2), found.rate) }
    : { ...found, rate };
}
