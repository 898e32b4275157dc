import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Subject } from './load.ts';
import type { Kind } from './options.ts';
import { type StartedProgram, startProgram } from './started-program.ts';

// What any gateway in Node must pay (node-proxy.ts), with the options of Node that the gateway process is started with.

export const NODE = 'Node';
export const NODE_WITH_POSTGRES = 'Node and PostgreSQL';

const program = join(import.meta.dirname, 'node-proxy.ts');
const NODE_OPTIONS = [
  '--max-old-space-size=1024',
  '--max-semi-space-size=64',
  '--no-allocation-site-pretenuring',
  '--heap-growing-percent=200',
  '--external-memory-accounted-in-global-limit',
  '--scavenger-max-new-space-capacity-mb=8',
];

export async function startNodeBaseline(
  into: string,
  upstreams: Readonly<Record<Kind, number>>,
  name: typeof NODE | typeof NODE_WITH_POSTGRES,
): Promise<StartedProgram & { readonly subject: Subject }> {
  const isWithPostgres = name === NODE_WITH_POSTGRES;
  const directory = join(into, isWithPostgres ? 'node-postgres' : 'node');
  await mkdir(directory);
  const ports = [upstreams.json, upstreams.sse].map(String);
  const started = await startProgram({
    command: process.execPath,
    args: [
      ...NODE_OPTIONS,
      program,
      ...(isWithPostgres ? ['--data-dir', join(directory, 'data')] : []),
      ...ports,
    ],
    cwd: into,
    outputFile: join(directory, 'output'),
    isReady: (output) => ports.every((port) => new RegExp(`^${port} \\d+$`, 'm').test(output)),
  });
  const output = await readFile(started.outputFile, 'utf8');
  const portOf = (upstream: number) => Number(new RegExp(`^${upstream} (\\d+)$`, 'm').exec(output)?.[1]);
  return {
    ...started,
    subject: {
      name,
      ports: { json: portOf(upstreams.json), sse: portOf(upstreams.sse) },
      models: { json: 'm', sse: 'm' },
      headers: {},
      pid: started.pid,
    },
  };
}
