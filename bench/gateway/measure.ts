import { type CpuTimes, cpuOf, difference } from './cpu.ts';
import { type LoadResult, loadStreams, loadWithWrk, type Subject } from './load.ts';
import { type Kind, type Options, WARM_UP } from './options.ts';
import type { Cell } from './results.ts';
import { delay } from './started-program.ts';

/** A subject, with the file that has its request. */
export interface Measured {
  readonly subject: Subject;
  readonly requestFiles: Readonly<Record<Kind, string>>;
}

type Load = (kind: Kind, connections: number, seconds: number, measured: Measured) => Promise<LoadResult>;

export const load =
  (streamClient: string): Load =>
  (kind, connections, seconds, { subject, requestFiles }) =>
    kind === 'json'
      ? loadWithWrk(subject.ports.json, connections, seconds, requestFiles.json)
      : loadStreams(streamClient, subject.ports.sse, connections, seconds, requestFiles.sse);

const QUIET_US = 20_000;
const QUIET_MS = 200;
const QUIET_LIMIT_MS = 5_000;

/**
 * Waits until the programs of the subject have finished what they do after the answers, such as shipping the journal. It
 * belongs to the requests, and would slow down what is measured next. Returns their CPU time so far.
 */
async function untilQuiet(pid: number): Promise<CpuTimes> {
  const end = performance.now() + QUIET_LIMIT_MS;
  let before = await cpuOf(pid);
  for (;;) {
    await delay(QUIET_MS);
    const after = await cpuOf(pid);
    const used = difference(before, after).get('all') ?? 0;
    if (used < QUIET_US || performance.now() > end) return after;
    before = after;
  }
}

/**
 * Loads each subject in turn, round after round, for each kind and number of connections. `onResult` is called with every
 * result, that of the warm-up included.
 */
export async function measureAll(
  { kinds, connections, rounds, seconds }: Options,
  measured: readonly Measured[],
  runLoad: Load,
  onResult: (measured: Measured, kind: Kind, connections: number, result: LoadResult) => void,
): Promise<Cell[]> {
  const cells: Cell[] = [];
  for (const kind of kinds) {
    const warmUp = Math.max(...connections);
    // The compiler of JavaScript has seen the path then, and pools are full.
    for (const one of measured)
      onResult(one, kind, warmUp, await runLoad(kind, warmUp, WARM_UP * seconds, one));
    for (const count of connections) {
      const results = measured.map(() => ({ rounds: [] as LoadResult[], cpu: [] as CpuTimes[] }));
      for (let round = 0; round < rounds; round += 1) {
        for (const [index, one] of measured.entries()) {
          const { pid } = one.subject;
          const before = pid === undefined ? undefined : await untilQuiet(pid);
          const result = await runLoad(kind, count, seconds, one);
          if (pid !== undefined && before)
            results[index]?.cpu.push(difference(before, await untilQuiet(pid)));
          results[index]?.rounds.push(result);
          onResult(one, kind, count, result);
        }
      }
      for (const [index, { subject }] of measured.entries())
        cells.push({
          kind,
          connections: count,
          subject: subject.name,
          rounds: results[index]?.rounds ?? [],
          cpu: results[index]?.cpu ?? [],
        });
    }
  }
  return cells;
}
