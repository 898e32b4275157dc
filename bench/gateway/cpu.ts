import { readdir, readFile } from 'node:fs/promises';

// CPU time of a process and its descendants, thread by thread, from /proc. The scheduler counts it in nanoseconds.

/** The part that used the processor. The last two are of programs that are not Gatehouse. */
export type Part =
  | 'main thread'
  | 'other threads'
  | 'PostgreSQL'
  | 'ClickHouse engine'
  | 'API process'
  | 'all';

/** Microseconds by part. */
export type CpuTimes = ReadonlyMap<Part, number>;

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly name: string;
  /** The time of children that have ended and were waited for. */
  readonly endedChildrenUs: number;
}

const TICK_US = 10_000;

const read = (path: string) => readFile(path, 'utf8').catch(() => '');

async function processes(): Promise<Process[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const stats = await Promise.all(pids.map((pid) => read(`/proc/${pid}/stat`)));
  return stats.flatMap((stat) => {
    const match = /^(\d+) \((.*)\) (.*)$/s.exec(stat);
    if (!match) return [];
    const fields = (match[3] ?? '').split(' ');
    return {
      pid: Number(match[1]),
      name: match[2] ?? '',
      parent: Number(fields[1]),
      endedChildrenUs: (Number(fields[13]) + Number(fields[14])) * TICK_US,
    };
  });
}

/** The process and its descendants. */
async function familyOf(pid: number): Promise<Process[]> {
  const all = await processes();
  const family = all.filter((one) => one.pid === pid);
  for (const member of family) family.push(...all.filter((one) => one.parent === member.pid));
  return family;
}

/** CPU time so far, by thread. */
async function threadsOf(pid: number): Promise<{ tid: number; us: number }[]> {
  const tids = await readdir(`/proc/${pid}/task`).catch(() => []);
  return Promise.all(
    tids.map(async (tid) => ({
      tid: Number(tid),
      us: Number((await read(`/proc/${pid}/task/${tid}/schedstat`)).split(' ')[0]) / 1000,
    })),
  );
}

/** The CPU time that the process and its descendants have used so far. */
export async function cpuOf(pid: number): Promise<CpuTimes> {
  const times = new Map<Part, number>();
  const add = (part: Part, us: number) => {
    times.set(part, (times.get(part) ?? 0) + us);
    times.set('all', (times.get('all') ?? 0) + us);
  };
  for (const member of await familyOf(pid)) {
    const commandLine = await read(`/proc/${member.pid}/cmdline`);
    const isGateway = /gateway-main|node-proxy/.test(commandLine);
    const part = member.name.startsWith('postgres')
      ? 'PostgreSQL'
      : member.name.startsWith('gatehouse-')
        ? 'ClickHouse engine'
        : 'API process';
    for (const { tid, us } of await threadsOf(member.pid))
      add(isGateway ? (tid === member.pid ? 'main thread' : 'other threads') : part, us);
    if (part === 'PostgreSQL') add(part, member.endedChildrenUs);
  }
  return times;
}

/** The use between two readings. */
export function difference(before: CpuTimes, after: CpuTimes): CpuTimes {
  return new Map([...after].map(([part, us]) => [part, us - (before.get(part) ?? 0)]));
}

/** The resident memory of the process, and of its descendants with this in their command line, in MB. */
export async function residentMb(pid: number, having = ''): Promise<number> {
  let pages = 0;
  for (const member of await familyOf(pid)) {
    if (!(await read(`/proc/${member.pid}/cmdline`)).includes(having)) continue;
    pages += Number((await read(`/proc/${member.pid}/statm`)).split(' ')[1] ?? 0);
  }
  return (pages * 4096) / 1e6;
}

/** The share of all processors that was busy during the time, from 0 to 1. */
export async function busyShare(ms: number): Promise<number> {
  const counters = async () =>
    ((await read('/proc/stat')).split('\n')[0] ?? '').trim().split(/\s+/).slice(1, 9).map(Number);
  const before = await counters();
  await new Promise((resolve) => setTimeout(resolve, ms));
  const used = (await counters()).map((value, index) => value - (before[index] ?? 0));
  const total = used.reduce((sum, value) => sum + value, 0);
  const idle = (used[3] ?? 0) + (used[4] ?? 0);
  return total === 0 ? 0 : 1 - idle / total;
}
