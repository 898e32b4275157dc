import { once } from 'node:events';
import { join } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { createSemaphore } from '@gatehouse/concurrency';

export interface Count {
  passed: number;
  failed: number;
  skipped: number;
}

export interface Ran extends Count {
  /** How long each process took, by its first file and the number of the others. */
  readonly seconds: ReadonlyMap<string, number>;
}

export interface RunOptions {
  /** Processes that run at the same time. */
  readonly concurrency: number;
  /** The time limit of a process, from its start to its end, in milliseconds. */
  readonly fileMs: number;
  /** Receives the report of each process as soon as it has ended. */
  readonly write: (report: string) => void;
  /** Whether to run the file; its turn has come. All are run unless given. */
  readonly isReady?: (file: string) => Promise<boolean>;
}

const SHARED_PROCESS = join(import.meta.dirname, 'shared-process.ts');

/**
 * Runs test files in this order, those of a group in one process, and counts their tests. A process that does not end in time is
 * killed, and its unfinished tests count as failed.
 */
export async function runFiles(groups: readonly (readonly string[])[], options: RunOptions): Promise<Ran> {
  const { isReady = () => Promise.resolve(true) } = options;
  const semaphore = createSemaphore({ permits: options.concurrency });
  const counts: Count[] = [];
  const seconds = new Map<string, number>();
  const runInTurn = async (group: readonly string[]) => {
    const files = (await Promise.all(group.map(isReady))).flatMap((is, index) =>
      is ? (group[index] ?? []) : [],
    );
    const [first] = files;
    if (first === undefined) return;
    const beganAt = performance.now();
    counts.push(await runProcess(files, options));
    const name = files.length === 1 ? first : `${first} and ${files.length - 1} more`;
    seconds.set(name, (performance.now() - beganAt) / 1_000);
  };
  await Promise.all(groups.map((group) => semaphore.run(() => runInTurn(group))));
  const sum = (name: keyof Count) => counts.reduce((total, count) => total + count[name], 0);
  return { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped'), seconds };
}

/** The files that took longest, as a text of one line each. */
export function slowestFiles(seconds: Ran['seconds'], most: number): string {
  return [...seconds]
    .sort(([, one], [, other]) => other - one)
    .slice(0, most)
    .map(([file, taken]) => `${taken.toFixed(1).padStart(6)} s  ${file}\n`)
    .join('');
}

async function runProcess(files: readonly string[], { fileMs, write }: RunOptions): Promise<Count> {
  const [only = '', ...others] = files;
  const isShared = others.length > 0;
  const file = isShared ? SHARED_PROCESS : only;
  const count: Count = { passed: 0, failed: 0, skipped: 0 };
  // The runner's own time limit applies to each test; this one ends the process.
  const signal = AbortSignal.timeout(fileMs);
  const events = run({ files: [file], concurrency: 1, signal, argv: isShared ? [...files] : [] });
  events.on('test:summary', ({ file: ofFile, counts }) => {
    if (ofFile !== undefined) return;
    const { tests, passed, skipped, todo } = counts;
    Object.assign(count, { passed, skipped, failed: tests - passed - skipped - todo });
  });
  const unfinished = new Set<string>();
  // These events come in the order of execution; those for the report come later.
  events.on('test:dequeue', ({ name }) => name !== file && unfinished.add(name));
  events.on('test:complete', ({ name }) => unfinished.delete(name));
  const report: string[] = [];
  events.compose(new spec()).on('data', (text: unknown) => report.push(String(text)));
  await once(events, 'end');
  if (signal.aborted) {
    count.failed = Math.max(1, count.failed);
    const tests = [...unfinished].map((name) => JSON.stringify(name)).join(', ');
    report.push(
      `✖ ${files.join(', ')} did not end within ${fileMs / 1000} s and was killed; unfinished: ${tests || 'none'}\n`,
    );
  }
  write(report.join(''));
  return count;
}
