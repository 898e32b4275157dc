import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkSums, type Sent } from './check-sums.ts';
import { busyShare } from './cpu.ts';
import { startEventProvider } from './event-provider.ts';
import { startGatehouse } from './gatehouse.ts';
import { type Subject, writeRequest } from './load.ts';
import { load, type Measured, measureAll } from './measure.ts';
import { startJsonProvider, startProxy } from './nginx.ts';
import { NODE, NODE_WITH_POSTGRES, startNodeBaseline } from './node-baseline.ts';
import { estimate, HELP, KINDS, type Kind, type Options, readOptions } from './options.ts';
import { startPortkey } from './portkey.ts';
import { type Check, report } from './report.ts';
import { PROVIDER, Results } from './results.ts';
import { assertTools, compile } from './tools.ts';

// What the gateway adds to a request, beside nginx, Portkey and what any gateway in Node must cost, and to the provider
// without any of them. Each is loaded in turn, round after round, in one run.
//
//   node bench/gateway/main.ts --help

const EVENTS = 50;
// A provider's writes come together when it is busy. One write per event would make the provider the bottleneck.
const EVENTS_PER_WRITE = 10;

const progress = (text: string) => process.stderr.write(`${text}\n`);

async function main(options: Options): Promise<boolean> {
  await assertTools();
  await using stack = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-bench-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const conditions = { processors: availableParallelism(), busyBefore: await busyShare(1_000) };
  progress(`Starting. The run takes about ${Math.ceil(estimate(options) / 60)} min.`);

  const streamClient = await compile('stream-client', directory);
  const json = stack.use(await startJsonProvider(directory));
  const events = stack.use(
    await startEventProvider(directory, { events: EVENTS, intervalUs: 0, perWrite: EVENTS_PER_WRITE }),
  );
  const upstreams = { json: json.ports[0] ?? 0, sse: events.port };
  const measured: Measured[] = [];
  const add = async (subjects: Readonly<Record<Kind, Subject>>) =>
    measured.push({
      subject: subjects.json,
      requestFiles: {
        json: await writeRequest(directory, subjects.json, 'json'),
        sse: await writeRequest(directory, subjects.sse, 'sse'),
      },
    });
  const both = (subject: Subject) => ({ json: subject, sse: subject });
  const plain = { headers: {}, models: { json: 'm', sse: 'm' } };
  await add(both({ ...plain, name: PROVIDER, ports: upstreams }));
  if (options.references.includes('nginx')) {
    const { ports, pid } = stack.use(await startProxy(directory, [upstreams.json, upstreams.sse]));
    await add(both({ ...plain, name: 'nginx', ports: { json: ports[0] ?? 0, sse: ports[1] ?? 0 }, pid }));
  }
  if (options.references.includes('portkey'))
    await add(stack.use(await startPortkey(directory, upstreams)).subjects);
  for (const [reference, name] of [
    ['node', NODE],
    ['node-postgres', NODE_WITH_POSTGRES],
  ] as const) {
    if (options.references.includes(reference))
      await add(both(stack.use(await startNodeBaseline(directory, upstreams, name)).subject));
  }
  const services = new Map<string, Awaited<ReturnType<typeof startGatehouse>>>();
  for (const processes of options.processes) {
    const service = stack.use(await startGatehouse(directory, upstreams, processes));
    services.set(service.subject.name, service);
    await add(both(service.subject));
  }

  const sent = new Map<string, Record<Kind, Sent>>();
  const failures: string[] = [];
  const cells = await measureAll(
    options,
    measured,
    load(streamClient),
    ({ subject }, kind, count, result) => {
      const { answers, whole = answers, failed, cut, seconds } = result;
      progress(
        `${kind} ${String(count).padStart(4)} ${subject.name.padEnd(24)} ${(answers / seconds).toFixed(0).padStart(7)}/s`,
      );
      if (failed + cut > 0)
        failures.push(`${subject.name}, ${kind}, ${count} connections: ${failed} not 200, ${cut} cut`);
      const sums = sent.get(subject.name) ?? {
        json: { answered: 0, abandoned: 0 },
        sse: { answered: 0, abandoned: 0 },
      };
      sums[kind].answered += whole - failed;
      sums[kind].abandoned += failed + cut + (kind === 'json' ? count : 0);
      sent.set(subject.name, sums);
    },
  );
  const checks: Check[] = [
    { name: 'every answer is 200', isRight: failures.length === 0, detail: failures.join('; ') || 'all' },
  ];
  for (const [name, service] of services) {
    const sums = sent.get(name);
    if (sums)
      checks.push(
        ...(await checkSums(
          service,
          sums,
          KINDS.filter((kind) => options.kinds.includes(kind)),
        )),
      );
  }
  process.stdout.write(report(new Results(cells), checks, conditions, options.markdown));
  return checks.every(({ isRight }) => isRight);
}

try {
  const options = readOptions(process.argv.slice(2));
  if (options === undefined) process.stdout.write(HELP);
  else if (!(await main(options))) process.exitCode = 1;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}
