import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

/** Programs of the system that do what Node cannot: lock a file, arrange a signal to a child at this process's
 *  death, enter a user namespace. Each is optional. */
export interface SystemTools {
  readonly flock: string | undefined;
  readonly setpriv: string | undefined;
  readonly unshare: string | undefined;
}

// A fixed list: PATH is set by the caller, and these programs run as root when this process does.
const FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/run/current-system/sw/bin'];

export function findSystemTools(): SystemTools {
  return { flock: find('flock'), setpriv: find('setpriv'), unshare: find('unshare') };
}

function find(name: string): string | undefined {
  return FOLDERS.map((folder) => join(folder, name)).find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** The whole environment of a PostgreSQL program: initdb needs a shell, and messages stay in English. */
export const CHILD_ENVIRONMENT = { PATH: FOLDERS.join(':'), LC_ALL: 'C', TZ: 'UTC' } as const;

export interface ProgramResult {
  /** 0 on success; undefined when it could not be started or was ended by a signal. */
  readonly status: number | undefined;
  /** The end of its output, both streams mixed. */
  readonly output: string;
}

export interface RunOptions {
  readonly timeoutMs: number;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly uid?: number | undefined;
  readonly gid?: number | undefined;
  /** Passed on as file descriptor 3. */
  readonly fd?: number | undefined;
}

const OUTPUT_LIMIT = 16 * 1024;

/** Runs a short program to its end. Never throws: a program that cannot be started is an outcome too. */
export function run(command: readonly string[], options: RunOptions): Promise<ProgramResult> {
  const [program = '', ...args] = command;
  return new Promise((resolve) => {
    let output = '';
    const collect = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-OUTPUT_LIMIT);
    };
    try {
      const child = spawn(program, args, {
        // The program's user may have no access to the current directory.
        cwd: '/',
        env: options.env ?? CHILD_ENVIRONMENT,
        detached: true,
        timeout: options.timeoutMs,
        killSignal: 'SIGKILL',
        stdio: ['ignore', 'pipe', 'pipe', options.fd ?? 'ignore'],
        ...(options.uid === undefined ? {} : { uid: options.uid }),
        ...(options.gid === undefined ? {} : { gid: options.gid }),
      });
      child.stdout?.on('data', collect);
      child.stderr?.on('data', collect);
      child.once('error', (error) => resolve({ status: undefined, output: error.message }));
      child.once('close', (status, signal) =>
        resolve({ status: status ?? undefined, output: signal ? `${output}\nended by ${signal}` : output }),
      );
    } catch (error) {
      resolve({ status: undefined, output: String(error) });
    }
  });
}
