import { readdir, readFile } from 'node:fs/promises';
import { getPriority } from 'node:os';
import { partOf } from './attack-memory.ts';

// The processor time of a service, by part. Linux only.

/** A second has so many ticks on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

/** Processor time in seconds: of threads with the priority of this process, and of those with a lower one. */
export interface ProcessorTime {
  readonly usual: number;
  readonly lowered: number;
}

/** By part of the service and its child processes, since each began. */
export async function processorTimes(pid: number): Promise<Map<string, ProcessorTime>> {
  const times = new Map<string, ProcessorTime>();
  const unread: { readonly pid: number; readonly part: string }[] = [{ pid, part: 'other' }];
  for (let one = unread.pop(); one !== undefined; one = unread.pop()) {
    const directory = `/proc/${one.pid}`;
    const part = partOf(await textOf(`${directory}/cmdline`)) ?? one.part;
    for (const thread of await readdir(`${directory}/task`).catch(() => [])) {
      const { usual, lowered } = timeOf(await textOf(`${directory}/task/${thread}/stat`));
      const before = times.get(part) ?? { usual: 0, lowered: 0 };
      times.set(part, { usual: before.usual + usual, lowered: before.lowered + lowered });
      const children = await textOf(`${directory}/task/${thread}/children`);
      for (const child of children.split(' ').filter(Boolean)) unread.push({ pid: Number(child), part });
    }
  }
  return times;
}

/** The time between two readings, in processors. */
export function processorsBetween(
  before: ReadonlyMap<string, ProcessorTime>,
  after: ReadonlyMap<string, ProcessorTime>,
  seconds: number,
): Map<string, ProcessorTime> {
  const nothing = { usual: 0, lowered: 0 };
  return new Map(
    [...after].map(([part, now]) => {
      const then = before.get(part) ?? nothing;
      // A thread that ended takes its time with it.
      const used = (name: keyof ProcessorTime) => Math.max(0, now[name] - then[name]) / seconds;
      return [part, { usual: used('usual'), lowered: used('lowered') }];
    }),
  );
}

function timeOf(stat: string): ProcessorTime {
  // Counted behind the name, which may have spaces: user and system time, and the nice value.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user, system, nice] = [fields[11], fields[12], fields[16]].map(Number);
  if (user === undefined || system === undefined || Number.isNaN(user)) return { usual: 0, lowered: 0 };
  const seconds = (user + system) / TICKS_PER_SECOND;
  return (nice ?? 0) > getPriority() ? { usual: 0, lowered: seconds } : { usual: seconds, lowered: 0 };
}

// A process or a thread may end between the listing and the read.
function textOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '');
}
