import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { generateGatewayKey } from '@gatehouse/contract';
import { run } from '../run.ts';

export const KEY = generateGatewayKey((size) => Buffer.alloc(size, 7));

/** A home directory that is removed with the test. */
export async function temporaryHome(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'connect-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Runs `gatehouse connect`. With `typed`, a person at a terminal types that; without, there is no terminal, and `piped` is
 *  the input. */
export async function connect(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
  typed?: string,
  piped = '',
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  let stdout = '';
  let stderr = '';
  const input =
    typed === undefined
      ? Readable.from(piped === '' ? [] : [Buffer.from(piped)])
      : Object.assign(new PassThrough(), { isTTY: true });
  if (input instanceof PassThrough) input.end(typed);
  const code = await run(['connect', ...args], {
    environment: () => environment,
    input: () => input,
    out: (text) => {
      stdout += text;
    },
    err: (text) => {
      stderr += text;
    },
    written: async () => undefined,
    isTerminal: typed !== undefined,
  });
  return { code, stdout, stderr };
}
