import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { cpuOf } from './gateway/cpu.ts';

// The time until the service is ready, beside the time of its stores alone, alternating on the same kind of data; the processor time of all
// its processes by then; and their memory when idle. Linux only: it reads /proc.
//
//   node bench/start.ts [rounds]

const root = join(import.meta.dirname, '..');
const rounds = Number(process.argv[2] ?? 7);

interface Running extends AsyncDisposable {
  readonly readyMs: number;
  readonly pid: number;
}

/** Starts a program and waits for the line that says it is ready; ends it with SIGTERM. */
async function timed(
  args: readonly string[],
  environment: Record<string, string>,
  isReady: (line: string) => boolean,
): Promise<Running> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, {
    cwd: root,
    env: { PATH: process.env['PATH'] ?? '', ...environment },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = once(child, 'exit');
  const ready = Promise.withResolvers<void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (isReady(line)) ready.resolve();
  });
  await Promise.race([
    ready.promise,
    ended.then(([code]) => {
      throw new Error(`${args.join(' ')} ended with ${code} before it was ready`);
    }),
  ]);
  return {
    readyMs: performance.now() - startedAt,
    pid: child.pid as number,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

const startService = (dataDir: string) =>
  timed(
    ['--max-old-space-size=1024', '--max-semi-space-size=64', 'cli/bin/gatehouse.mjs', 'start'],
    { PORT: '0', GATEWAY_PORT: '0', DATA_DIR: dataDir },
    (line) => line.includes('"msg":"ready"'),
  );

const startStores = (dataDir: string) =>
  timed(['bench/stores-alone.ts', dataDir], {}, (line) => line === 'ready');

/** Resident memory of a process and its descendants, in KiB, by what they are. */
async function memoryOf(pid: number): Promise<Map<string, { rss: number; pss: number; count: number }>> {
  const children = new Map<number, number[]>();
  const names = new Map<number, string>();
  for (const entry of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const stat = await readFile(`/proc/${entry}/stat`, 'utf8').catch(() => '');
    const match = /^(\d+) \((.*)\) \S (\d+)/s.exec(stat);
    if (!match) continue;
    names.set(Number(match[1]), match[2] as string);
    children.set(Number(match[3]), [...(children.get(Number(match[3])) ?? []), Number(match[1])]);
  }
  const sums = new Map<string, { rss: number; pss: number; count: number }>();
  const visit = async (one: number): Promise<void> => {
    const commandLine = await readFile(`/proc/${one}/cmdline`, 'utf8').catch(() => '');
    const name =
      one === pid
        ? 'the service (Node)'
        : commandLine.includes('gateway-main')
          ? 'the gateway (Node)'
          : (names.get(one) ?? '?');
    const label = name.startsWith('postgres')
      ? 'PostgreSQL, all its processes'
      : name.startsWith('gatehouse-')
        ? 'ClickHouse engine'
        : name;
    const rollup = await readFile(`/proc/${one}/smaps_rollup`, 'utf8').catch(() => '');
    const figure = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(rollup)?.[1] ?? 0);
    const sum = sums.get(label) ?? { rss: 0, pss: 0, count: 0 };
    sums.set(label, { rss: sum.rss + figure('Rss'), pss: sum.pss + figure('Pss'), count: sum.count + 1 });
    for (const child of children.get(one) ?? []) await visit(child);
  };
  await visit(pid);
  return sums;
}

const median = (values: readonly number[]) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
const row = (...cells: (string | number)[]) => process.stdout.write(`| ${cells.join(' | ')} |\n`);

async function main(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-bench-'));
  try {
    const figures: Record<'firstService' | 'firstStores' | 'laterService' | 'laterStores', number[]> = {
      firstService: [],
      firstStores: [],
      laterService: [],
      laterStores: [],
    };
    const cpuMs: Record<'first' | 'later', number[]> = { first: [], later: [] };
    for (let round = 0; round < rounds; round += 1) {
      for (const [kind, start] of [
        ['Stores', startStores],
        ['Service', startService],
      ] as const) {
        const dataDir = join(directory, `${kind}-${round}`);
        for (const which of ['first', 'later'] as const) {
          await using running = await start(dataDir);
          figures[`${which}${kind}`].push(running.readyMs);
          if (kind === 'Service') cpuMs[which].push(((await cpuOf(running.pid)).get('all') ?? 0) / 1_000);
        }
      }
    }
    row(
      `ready after, ms, median of ${rounds}`,
      'stores alone',
      'service',
      'difference',
      'ratio',
      'processor time',
    );
    row('---', '---', '---', '---', '---', '---');
    for (const which of ['first', 'later'] as const) {
      const [alone, service] = [median(figures[`${which}Stores`]), median(figures[`${which}Service`])];
      row(
        `${which} start`,
        alone.toFixed(0),
        service.toFixed(0),
        (service - alone).toFixed(0),
        (service / alone).toFixed(2),
        median(cpuMs[which]).toFixed(0),
      );
    }
    process.stdout.write('\n');

    await using running = await startService(join(directory, 'Service-0'));
    // Memory that only the start needs is released within a few seconds.
    await new Promise((resolve) => setTimeout(resolve, 15_000));
    const memory = await memoryOf(running.pid);
    row('idle, 15 s after ready', 'processes', 'resident MB', 'proportional MB');
    row('---', '---', '---', '---');
    const total = { rss: 0, pss: 0, count: 0 };
    for (const [name, { rss, pss, count }] of memory) {
      row(name, count, (rss / 1024).toFixed(0), (pss / 1024).toFixed(0));
      total.rss += rss;
      total.pss += pss;
      total.count += count;
    }
    row('all', total.count, (total.rss / 1024).toFixed(0), (total.pss / 1024).toFixed(0));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

await main();
