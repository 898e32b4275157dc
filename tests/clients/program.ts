import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/** The result of a client program. */
export interface ProgramResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProgramOptions {
  readonly home: string;
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
}

const LIMIT_MS = 90_000;
/** A port on which nothing listens: whatever a program wants from elsewhere fails at once. */
const NOWHERE = 'http://127.0.0.1:9';

/**
 * Runs a client program to its end, in an environment that has nothing of this process but the path. Throws when it
 * does not end within 90 seconds; its whole process group is killed.
 */
export async function runProgram(
  file: string,
  args: readonly string[],
  { home, directory, environment }: ProgramOptions,
): Promise<ProgramResult> {
  const child = spawn(file, args, {
    cwd: directory,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: home,
      HTTP_PROXY: NOWHERE,
      HTTPS_PROXY: NOWHERE,
      http_proxy: NOWHERE,
      https_proxy: NOWHERE,
      NO_PROXY: '127.0.0.1,localhost',
      no_proxy: '127.0.0.1,localhost',
      ...environment,
    },
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    killGroup(child);
  }, LIMIT_MS);
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    if (isLate) throw new Error(`${file} did not end within ${LIMIT_MS / 1000} s:\n${stdout}\n${stderr}`);
    return { code, stdout, stderr };
  } finally {
    clearTimeout(timer);
    killGroup(child);
  }
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // None of the group is left.
  }
}
