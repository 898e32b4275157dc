import { join } from 'node:path';
import { createSemaphore } from '@gatehouse/concurrency';
import { TestProcesses } from './test-process.ts';

// The spec reporter puts this before its list.
const FAILED_TESTS = '✖ failing tests:\n';

export interface Count {
  passed: number;
  failed: number;
  skipped: number;
}

export interface Ran extends Count {
  /** How long each file took. */
  readonly seconds: ReadonlyMap<string, number>;
  /** Why tests failed, a text for each file that has such. */
  readonly failures: readonly string[];
}

export interface RunOptions {
  /** The directory that the paths of the files start at. */
  readonly root: string;
  /** Files that run at the same time. */
  readonly concurrency: number;
  /** True for a file that needs a process of its own; the others share a few. */
  readonly needsProcess: (file: string) => boolean;
  /** The time limit of a file, from the start of its process to its end, in milliseconds. */
  readonly fileMs: number;
  /** Receives the report of each file as soon as the file has ended. */
  readonly write: (report: string) => void;
  /** Asked when the file would start; false leaves it out. All are run unless given. */
  readonly isReady?: (file: string) => Promise<boolean>;
}

/**
 * Runs test files in this order and counts their tests. A file that does not end in time is killed, and its unfinished tests
 * count as failed.
 */
export async function runFiles(files: readonly string[], options: RunOptions): Promise<Ran> {
  const { root, fileMs, write, needsProcess, isReady = () => Promise.resolve(true) } = options;
  await using processes = new TestProcesses();
  const semaphore = createSemaphore({ permits: options.concurrency });
  const counts: Count[] = [];
  const seconds = new Map<string, number>();
  const failures: string[] = [];
  const runInTurn = async (file: string) => {
    if (!(await isReady(file))) return;
    const beganAt = performance.now();
    const { count, report } = await processes.run(
      { file: join(root, file), isAlone: needsProcess(file) },
      fileMs,
    );
    counts.push(count);
    write(report);
    if (count.failed > 0) failures.push(`${file}\n${whyFailed(report)}`);
    seconds.set(file, (performance.now() - beganAt) / 1_000);
  };
  await Promise.all(files.map((file) => semaphore.run(() => runInTurn(file))));
  const sum = (name: keyof Count) => counts.reduce((total, count) => total + count[name], 0);
  return { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped'), seconds, failures };
}

/** The end of a report from the list of its failed tests on, or the lines that say what else failed. */
function whyFailed(report: string): string {
  const list = report.indexOf(FAILED_TESTS);
  if (list !== -1) return report.slice(list + FAILED_TESTS.length);
  return report.replaceAll(/^(?!✖).*\n/gm, '');
}

/** The files that took longest, as a text of one line each. */
export function slowestFiles(seconds: Ran['seconds'], most: number): string {
  return [...seconds]
    .sort(([, one], [, other]) => other - one)
    .slice(0, most)
    .map(([file, taken]) => `${taken.toFixed(1).padStart(6)} s  ${file}\n`)
    .join('');
}

/** The files of each kind and the seconds that they took, as a text of one line each. */
export function kindTimes(seconds: Ran['seconds'], kindOf: (file: string) => string): string {
  const kinds = [...Map.groupBy(seconds, ([file]) => kindOf(file))].map(
    ([kind, files]) => [kind, files.length, files.reduce((sum, [, taken]) => sum + taken, 0)] as const,
  );
  return kinds
    .sort(([, , one], [, , other]) => other - one)
    .map(([kind, files, taken]) => `${taken.toFixed(1).padStart(7)} s  ${kind}, ${files} files\n`)
    .join('');
}
