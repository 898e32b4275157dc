import { readdir, readFile } from 'node:fs/promises';

// Memory and processor time of a service's processes, from /proc. Linux only.

export type ProcessName = 'api' | 'gateway' | 'engine' | 'postgres';

export interface ProcessSample {
  /** Processes of this name. */
  readonly count: number;
  readonly residentBytes: number;
  /** Without files and shared memory. */
  readonly privateBytes: number;
  /** PostgreSQL's buffers, for example. Counted in each process that touched it. */
  readonly sharedBytes: number;
  readonly descriptors: number;
  /** The time of processes that still run, and of their children that have ended. */
  readonly cpuSeconds: number;
}

interface Member extends Omit<ProcessSample, 'count'> {
  readonly pid: number;
  readonly name: ProcessName | undefined;
}

const TICKS_PER_SECOND = 100;
const KIB = 1_024;

/** By name. Processes of a name are added up. */
export async function sampleProcesses(pid: number): Promise<Map<ProcessName, ProcessSample>> {
  const samples = new Map<ProcessName, ProcessSample>();
  for (const member of await familyOf(pid)) {
    if (member.name === undefined) continue;
    const before = samples.get(member.name);
    const sum = (member: keyof Omit<ProcessSample, 'count'>, value: number) =>
      (before?.[member] ?? 0) + value;
    samples.set(member.name, {
      count: (before?.count ?? 0) + 1,
      residentBytes: sum('residentBytes', member.residentBytes),
      privateBytes: sum('privateBytes', member.privateBytes),
      // The most, not the sum: the processes share it.
      sharedBytes: Math.max(before?.sharedBytes ?? 0, member.sharedBytes),
      descriptors: sum('descriptors', member.descriptors),
      cpuSeconds: sum('cpuSeconds', member.cpuSeconds),
    });
  }
  return samples;
}

async function familyOf(pid: number): Promise<Member[]> {
  const family: Member[] = [];
  const unread = [pid];
  for (let one = unread.pop(); one !== undefined; one = unread.pop()) {
    family.push(await memberOf(one));
    for (const thread of await readdir(`/proc/${one}/task`).catch(() => [])) {
      const children = await read(one, `task/${thread}/children`);
      unread.push(...children.split(' ').filter(Boolean).map(Number));
    }
  }
  return family;
}

// A process can end between the listing and the read.
const read = (pid: number, name: string) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '');

async function memberOf(pid: number): Promise<Member> {
  const commandLine = (await read(pid, 'cmdline')).replaceAll('\0', ' ');
  const status = await read(pid, 'status');
  const bytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0) * KIB;
  const fields = (await read(pid, 'stat')).replace(/^.*\) /s, '').split(' ');
  const ticks = [11, 12, 13, 14].reduce((sum, field) => sum + Number(fields[field] ?? 0), 0);
  return {
    pid,
    name: nameOf(commandLine),
    residentBytes: bytes('VmRSS'),
    privateBytes: bytes('RssAnon'),
    sharedBytes: bytes('RssShmem'),
    descriptors: (await readdir(`/proc/${pid}/fd`).catch(() => [])).length,
    cpuSeconds: ticks / TICKS_PER_SECOND,
  };
}

function nameOf(commandLine: string): ProcessName | undefined {
  if (/gateway-main\.m?[jt]s/.test(commandLine)) return 'gateway';
  if (/^gatehouse-clickhouse/.test(commandLine) || /engine-main\.m?[jt]s/.test(commandLine)) return 'engine';
  if (/^postgres:|native\/bin\/postgres/.test(commandLine)) return 'postgres';
  if (/gatehouse\.mjs start/.test(commandLine)) return 'api';
  return undefined;
}
