import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { childEnvironment } from './child-environment.ts';

const EXECUTABLE = join(import.meta.dirname, '../cli/bin/gatehouse.mjs');

/** The result of a command. */
export interface Outcome {
  /** The exit code, or the signal that ended it. */
  readonly code: number | NodeJS.Signals;
  readonly stdout: string;
  readonly stderr: string;
}

/** A `gatehouse` command as a process of its own, with a minimal environment. Its standard input stays open. */
export interface CommandProcess {
  readonly child: ChildProcess;
  readonly outcome: Promise<Outcome>;
}

export interface CommandEnvironment {
  readonly environment?: Readonly<Record<string, string>>;
  readonly directory?: string;
}

export function startCommand(
  args: readonly string[],
  { environment = {}, directory = import.meta.dirname }: CommandEnvironment = {},
): CommandProcess {
  const child = spawn(process.execPath, [EXECUTABLE, ...args], {
    cwd: directory,
    env: { ...childEnvironment(), ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  // It may end before it has read its input.
  child.stdin.on('error', () => undefined);
  const outcome = once(child, 'close').then(([code, signal]) => ({ code: code ?? signal, stdout, stderr }));
  return { child, outcome };
}

/** Runs a command to its end with this standard input. */
export function runCommand(
  args: readonly string[],
  environment: CommandEnvironment = {},
  input = '',
): Promise<Outcome> {
  const { child, outcome } = startCommand(args, environment);
  child.stdin?.end(input);
  return outcome;
}

/** Runs a command with `--json`, which must succeed with nothing on standard error. Returns its document. */
export async function jsonOf(
  args: readonly string[],
  environment: CommandEnvironment = {},
  input = '',
): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await runCommand([...args, '--json'], environment, input);
  assert.deepEqual([code, stderr], [0, ''], args.join(' '));
  return JSON.parse(stdout) as Record<string, unknown>;
}
