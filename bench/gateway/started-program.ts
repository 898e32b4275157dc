import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { SEARCH_PATH } from './tools.ts';

/** A program that runs until it is disposed. Its output goes to a file: reading it here would cost time that is measured. */
export interface StartedProgram extends AsyncDisposable {
  readonly pid: number;
  readonly outputFile: string;
}

export interface ProgramOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly outputFile: string;
  readonly cwd?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** True if it is ready, from its output so far. */
  readonly isReady: (output: string) => boolean | Promise<boolean>;
}

const READY_LIMIT_MS = 60_000;
const STOP_LIMIT_MS = 30_000;
const POLL_MS = 50;

export const delay = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Starts the program and waits until it is ready. Throws with its output when it ends before that or takes a minute. */
export async function startProgram(options: ProgramOptions): Promise<StartedProgram> {
  const { command, args, outputFile, cwd, environment = {}, isReady } = options;
  await using file = await open(outputFile, 'w', 0o600);
  const child = spawn(command, [...args], {
    ...(cwd === undefined ? {} : { cwd }),
    env: { ...environment, PATH: SEARCH_PATH },
    stdio: ['ignore', file.fd, file.fd],
  });
  let startError: Error | undefined;
  child.on('error', (error) => {
    startError = error;
  });
  const hasEnded = () => startError !== undefined || child.exitCode !== null || child.signalCode !== null;
  const end = performance.now() + READY_LIMIT_MS;
  while (!(await isReady(await readFile(outputFile, 'utf8')))) {
    if (!hasEnded() && performance.now() < end) {
      await delay(POLL_MS);
      continue;
    }
    await stop(child);
    const output = (await readFile(outputFile, 'utf8')).slice(-2_000);
    throw new Error(`${command} ${args.join(' ')} was not ready: ${startError?.message ?? output}`);
  }
  return {
    pid: child.pid as number,
    outputFile,
    [Symbol.asyncDispose]: () => stop(child),
  };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
  await ended;
  clearTimeout(late);
}

export async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const { promise, resolve } = Promise.withResolvers<boolean>();
  socket.on('connect', () => resolve(true));
  socket.on('error', () => resolve(false));
  const accepted = await promise;
  socket.destroy();
  return accepted;
}
