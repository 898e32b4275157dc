import { once } from 'node:events';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { createSemaphore } from '@gatehouse/concurrency';

export interface Count {
  passed: number;
  failed: number;
  skipped: number;
}

export interface Ran extends Count {
  /** How long each file took. */
  readonly seconds: ReadonlyMap<string, number>;
}

export interface RunOptions {
  /** Files that run at the same time, each in a process of its own. */
  readonly concurrency: number;
  /** The time limit of a file, from the start of its process to its end, in milliseconds. */
  readonly fileMs: number;
  /** Receives the report of each file as soon as the file has ended. */
  readonly write: (report: string) => void;
  /** Whether to run the file; its turn has come. All are run unless given. */
  readonly isReady?: (file: string) => Promise<boolean>;
}

/**
 * Runs test files in this order and counts their tests. A file that does not end in time is killed, and its unfinished tests
 * count as failed.
 */
export async function runFiles(files: readonly string[], options: RunOptions): Promise<Ran> {
  const { isReady = () => Promise.resolve(true) } = options;
  const semaphore = createSemaphore({ permits: options.concurrency });
  const counts: Count[] = [];
  const seconds = new Map<string, number>();
  const runInTurn = async (file: string) => {
    if (!(await isReady(file))) return;
    const beganAt = performance.now();
    counts.push(await runFile(file, options));
    seconds.set(file, (performance.now() - beganAt) / 1_000);
  };
  await Promise.all(files.map((file) => semaphore.run(() => runInTurn(file))));
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

async function runFile(file: string, { fileMs, write }: RunOptions): Promise<Count> {
  const count: Count = { passed: 0, failed: 0, skipped: 0 };
  // The runner's own time limit applies to each test; this one ends the process.
  const signal = AbortSignal.timeout(fileMs);
  const events = run({ files: [file], concurrency: 1, signal });
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
      `✖ ${file} did not end within ${fileMs / 1000} s and was killed; unfinished: ${tests || 'none'}\n`,
    );
  }
  write(report.join(''));
  return count;
}
