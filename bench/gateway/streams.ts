import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { cpuOf, difference, type Part, residentMb } from './cpu.ts';
import { startEventProvider } from './event-provider.ts';
import { startGatehouse } from './gatehouse.ts';
import { type LoadResult, loadStreams, type Subject, writeRequest } from './load.ts';
import { startProxy } from './nginx.ts';
import type { Kind } from './options.ts';
import { startPortkey } from './portkey.ts';
import { inColumns, inMarkdown, number } from './report-tables.ts';
import { PROVIDER } from './results.ts';
import { delay } from './started-program.ts';
import { assertTools, compile } from './tools.ts';

// What long streams cost: the memory of each, the CPU time of an event and how late it arrives, beside nginx and Portkey, one
// after the other.
//
//   node bench/gateway/streams.ts [--streams 500] [--seconds 20] [--rate 5] [--without provider,portkey,nginx] [--markdown]
//
// The rate is events per second of each stream. With --seconds 600 it also shows whether streams of ten minutes keep their
// memory.

const { values } = parseArgs({
  options: {
    streams: { type: 'string', default: '500' },
    seconds: { type: 'string', default: '20' },
    rate: { type: 'string', default: '5' },
    without: { type: 'string', default: '' },
    markdown: { type: 'boolean', default: false },
  },
});
const [streams, seconds, rate] = [Number(values.streams), Number(values.seconds), Number(values.rate)];

const WARM_UP = { connections: 16, seconds: 3, events: 50 };
const SETTLE_MS = 3_000;
const START_MS = 1_000;

interface Row {
  readonly name: string;
  readonly idleMb: number;
  /** When a quarter of the time is over, and at its end. */
  readonly earlyMb: number;
  readonly lateMb: number;
  readonly cpuUs: (part: Part) => number;
  readonly result: LoadResult;
}

/** The process whose memory counts: of Gatehouse its gateway, of the others all. */
const memoryOf = ({ pid, name }: Subject) =>
  pid === undefined ? Number.NaN : residentMb(pid, name.startsWith('Gatehouse') ? 'gateway-main' : '');

async function measure(directory: string, client: string, subjects: Record<Kind, Subject>): Promise<Row> {
  const { json: warm, sse: subject } = subjects;
  const requestOf = (one: Subject, kind: Kind) =>
    writeRequest(directory, one, kind, { isStream: true, maxTokens: seconds * rate + WARM_UP.events });
  const warmUp = await requestOf(warm, 'json');
  await loadStreams(client, warm.ports.json, WARM_UP.connections, WARM_UP.seconds, warmUp);
  await delay(SETTLE_MS);
  const idleMb = await memoryOf(subject);
  const request = await requestOf(subject, 'sse');
  const loading = loadStreams(client, subject.ports.sse, streams, 2 * seconds, request, true);
  const reading = async () => ({
    cpu: subject.pid === undefined ? new Map() : await cpuOf(subject.pid),
    at: performance.now(),
    mb: await memoryOf(subject),
  });
  await delay(START_MS + seconds * 250);
  const early = await reading();
  await delay(seconds * 700 - START_MS);
  const late = await reading();
  const result = await loading;
  const used = difference(early.cpu, late.cpu);
  const events = (streams * rate * (late.at - early.at)) / 1000;
  return {
    name: subject.name,
    idleMb,
    earlyMb: early.mb,
    lateMb: late.mb,
    cpuUs: (part) => (used.get(part) ?? Number.NaN) / events,
    result,
  };
}

async function main(): Promise<void> {
  if (!(streams >= 1 && seconds >= 4 && rate > 0)) throw new Error('--seconds is at least 4');
  await assertTools();
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-bench-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const client = await compile('stream-client', directory);
  const startProvider = async (name: string, events: number, intervalUs: number) => {
    const into = join(directory, name);
    await mkdir(into);
    return stack.use(await startEventProvider(into, { events, intervalUs, perWrite: 1 }));
  };
  // What is called JSON elsewhere is the warm-up here: short streams.
  const upstreams = {
    json: (await startProvider('short', WARM_UP.events, 0)).port,
    sse: (await startProvider('long', seconds * rate, 1_000_000 / rate)).port,
  };
  const without = values.without.split(',');
  const plain = { headers: {}, models: { json: 'm', sse: 'm' } };
  const both = (subject: Subject) => ({ json: subject, sse: subject });
  const rows: Row[] = [];
  if (!without.includes(PROVIDER))
    rows.push(await measure(directory, client, both({ ...plain, name: PROVIDER, ports: upstreams })));
  if (!without.includes('nginx')) {
    await using proxy = await startProxy(directory, [upstreams.json, upstreams.sse]);
    const [json = 0, sse = 0] = proxy.ports;
    const nginx = { ...plain, name: 'nginx', ports: { json, sse }, pid: proxy.pid };
    rows.push(await measure(directory, client, both(nginx)));
  }
  if (!without.includes('portkey')) {
    await using portkey = await startPortkey(directory, upstreams);
    rows.push(await measure(directory, client, portkey.subjects));
  }
  {
    await using service = await startGatehouse(directory, upstreams, 1);
    rows.push(await measure(directory, client, both(service.subject)));
  }
  const table = [
    [`${streams} streams, ${rate} events/s each, ${seconds} s`, ...rows.map(({ name }) => name)],
    ['complete answers', ...rows.map(({ result }) => String(result.answers - result.failed))],
    ['resident MB, idle', ...rows.map(({ idleMb }) => number(idleMb, 0))],
    ['resident MB, after a quarter', ...rows.map(({ earlyMb }) => number(earlyMb, 0))],
    ['resident MB, at the end', ...rows.map(({ lateMb }) => number(lateMb, 0))],
    ['KB per stream', ...rows.map(({ idleMb, lateMb }) => number(((lateMb - idleMb) * 1000) / streams, 0))],
    ['CPU per event, µs', ...rows.map(({ cpuUs }) => number(cpuUs('all'), 1))],
    ['of it the main thread', ...rows.map(({ cpuUs }) => number(cpuUs('main thread'), 1))],
    ['event late by, p50 ms', ...rows.map(({ result }) => number((result.eventP50 ?? 0) / 1000, 2))],
    ['event late by, p99 ms', ...rows.map(({ result }) => number((result.eventP99 ?? 0) / 1000, 2))],
  ];
  process.stdout.write(values.markdown ? inMarkdown(table) : inColumns(table));
  for (const { name, result } of rows) {
    const complete = result.answers - result.failed;
    if (complete === streams && result.cut === 0) continue;
    process.stderr.write(
      `${name}: ${complete} of ${streams} streams were complete, ${result.cut} were cut\n`,
    );
    process.exitCode = 1;
  }
}

await main();
