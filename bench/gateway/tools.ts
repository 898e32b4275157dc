import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const programs = join(import.meta.dirname, 'programs');
/** Debian has nginx where only administrators look for programs. */
export const SEARCH_PATH = `${process.env['PATH'] ?? ''}:/usr/sbin`;
const DEBIAN = { nginx: 'nginx-light', wrk: 'wrk', cc: 'gcc' } as const;

/** The output of a program that ends by itself. Throws with its messages when it fails or does not end in time. */
export async function runProgram(
  command: string,
  args: readonly string[],
  limitMs: number,
  environment: NodeJS.ProcessEnv = {},
): Promise<string> {
  const child = spawn(command, [...args], {
    env: { ...environment, PATH: SEARCH_PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [output, messages] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk;
  });
  child.stderr.on('data', (chunk: Buffer) => {
    messages += chunk;
  });
  const late = setTimeout(() => child.kill('SIGKILL'), limitMs);
  try {
    const [code, signal] = await once(child, 'close');
    if (code !== 0) throw new Error(`${command} ended with ${signal ?? code}: ${messages || output}`);
    return output;
  } finally {
    clearTimeout(late);
  }
}

/** Throws an Error that names the programs that are missing and how to install them. */
export async function assertTools(): Promise<void> {
  const isThere = (name: string) =>
    // None of them ends with an error when it is asked for its version, except wrk.
    runProgram(name, ['-v'], 10_000).then(
      () => true,
      (error) => error.code !== 'ENOENT',
    );
  const missing: string[] = [];
  for (const [name, debianPackage] of Object.entries(DEBIAN))
    if (!(await isThere(name))) missing.push(debianPackage);
  if (missing.length === 0) return;
  throw new Error(
    `This benchmark needs ${missing.join(', ')}. On Debian: apt-get install -y --no-install-recommends ${missing.join(' ')}`,
  );
}

/** Compiles a program of this directory into another directory; its path. */
export async function compile(name: string, into: string): Promise<string> {
  const path = join(into, name);
  await runProgram('cc', ['-O2', '-o', path, join(programs, `${name}.c`)], 60_000);
  return path;
}

export const WRK_SCRIPT = join(programs, 'post.lua');
