import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type StartedProgram, startProgram } from './started-program.ts';
import { compile } from './tools.ts';

export interface EventProviderOptions {
  readonly events: number;
  /** Between two writes; 0 writes all events at once. */
  readonly intervalUs: number;
  /** Events after the first one that are written together. */
  readonly perWrite: number;
}

export interface EventProvider extends StartedProgram {
  readonly port: number;
}

/** Compiles and starts the provider that streams. */
export async function startEventProvider(
  directory: string,
  { events, intervalUs, perWrite }: EventProviderOptions,
): Promise<EventProvider> {
  const started = await startProgram({
    command: await compile('event-provider', directory),
    args: [events, intervalUs, perWrite].map(String),
    outputFile: join(directory, 'event-provider.log'),
    isReady: (output) => /^\d+\n/.test(output),
  });
  return { ...started, port: Number.parseInt(await readFile(started.outputFile, 'utf8'), 10) };
}
