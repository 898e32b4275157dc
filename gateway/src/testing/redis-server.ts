import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@gatehouse/http/testing';

/** A Redis or Valkey of this machine, in a directory of its own. */
export interface RedisServer extends AsyncDisposable {
  readonly port: number;
  start(): Promise<void>;
  /** Without warning. What it held in memory is gone. */
  kill(): Promise<void>;
}

/** Undefined where none is installed. */
export async function findRedisServer(): Promise<string | undefined> {
  for (const name of ['redis-server', 'valkey-server']) {
    const child = spawn(name, ['--version'], { stdio: 'ignore' });
    const [code] = await once(child, 'exit').catch(() => [undefined]);
    if (code === 0) return name;
  }
  return undefined;
}

export async function startRedisServer(
  program: string,
  settings: readonly string[] = [],
): Promise<RedisServer> {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-redis-'));
  const port = await freePort();
  let child: ChildProcess | undefined;
  const start = async () => {
    child = spawn(
      program,
      [
        '--port',
        `${port}`,
        '--bind',
        '127.0.0.1',
        '--dir',
        directory,
        '--save',
        '',
        '--daemonize',
        'no',
        ...settings,
      ],
      { stdio: 'ignore' },
    );
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`${program} ended with ${code}`);
    });
    ended.catch(() => undefined);
    await Promise.race([answers(port), ended]);
  };
  const kill = async () => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  await start();
  return {
    port,
    start,
    kill,
    async [Symbol.asyncDispose]() {
      await kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function answers(port: number): Promise<void> {
  for (let attempt = 0; attempt < 400; attempt += 1) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`nothing listens on port ${port}`);
}
