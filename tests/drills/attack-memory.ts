import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

// Memory of the processes of a service. Linux only.

/** The processes that a crash would end, by name. */
const PARTS: readonly (readonly [name: string, commandLine: RegExp])[] = [
  ['gateway', /gateway-main\.m?[jt]s/],
  ['api', /gatehouse\.mjs start/],
  ['telemetry', /^gatehouse-clickhouse/],
  ['postgres', /native\/bin\/postgres/],
];

/** The part with this command line, as /proc has it. */
export function partOf(commandLine: string): string | undefined {
  const words = commandLine.replaceAll('\0', ' ');
  return PARTS.find(([, pattern]) => pattern.test(words))?.[0];
}

export interface RunningPart {
  readonly pid: number;
  /** Resident memory in MiB. */
  readonly residentMb: number;
}

/** The running parts of a service, by name; `pid` is that of its first process. */
export async function runningParts(pid: number): Promise<Map<string, RunningPart>> {
  const found = new Map<string, RunningPart>();
  const unread = [pid];
  for (let one = unread.pop(); one !== undefined; one = unread.pop()) {
    // A process can end between the listing and the read.
    const read = (name: string) => readFile(`/proc/${one}/${name}`, 'utf8').catch(() => '');
    const name = partOf(await read('cmdline'));
    const residentKb = /^VmRSS:\s+(\d+) kB$/m.exec(await read('status'))?.[1];
    // The servers' own children come and go.
    if (name !== undefined && residentKb !== undefined) {
      found.set(name, { pid: one, residentMb: Number(residentKb) / 1024 });
    }
    if (name !== 'postgres') {
      unread.push(...(await read(`task/${one}/children`)).split(' ').filter(Boolean).map(Number));
    }
  }
  return found;
}

export async function bytesIn(directory: string): Promise<number> {
  const names = await readdir(directory, { recursive: true }).catch(() => []);
  const sizes = names.map((name) =>
    stat(join(directory, name)).then(
      (found) => (found.isFile() ? found.size : 0),
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/** The highest values while the work ran. */
export interface Peaks {
  readonly residentMb: Map<string, number>;
  journalMb: number;
}

const LOOK_EVERY_MS = 200;

/** Samples until the work is done. */
export async function watchPeaks(
  pid: number,
  journalDirectory: string,
  work: Promise<unknown>,
): Promise<Peaks> {
  const peaks: Peaks = { residentMb: new Map(), journalMb: 0 };
  const isDone = work.then(
    () => true,
    () => true,
  );
  do {
    for (const [name, { residentMb }] of await runningParts(pid)) {
      peaks.residentMb.set(name, Math.max(peaks.residentMb.get(name) ?? 0, residentMb));
    }
    peaks.journalMb = Math.max(peaks.journalMb, (await bytesIn(journalDirectory)) / 1024 ** 2);
  } while (!(await Promise.race([isDone, new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))])));
  return peaks;
}
