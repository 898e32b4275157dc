import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Drill } from '../drill.ts';
import type { IsolatedSettings } from './isolated-main.ts';
import { ROWS } from './rows.ts';
import { runRows } from './rows-run.ts';

// Runs the matrix of outages (rows.ts), or one row of it: in namespaces of its own for network and mounts where it may, so that
// packets can be dropped and disks filled, and nothing is left over. Elsewhere it leaves these rows out and says so.

const NAMESPACES = ['--net', '--mount', '--propagation', 'private'];
const TOOLS = [
  ['unshare', ...NAMESPACES, 'mount', '-t', 'tmpfs', 'gatehouse-drill', '/mnt'],
  ['unshare', ...NAMESPACES, 'ip', 'link', 'add', 'near', 'type', 'veth', 'peer', 'name', 'far'],
  ['nsenter', '--version'],
];

export const drill: Drill = async ({ cycles, only, log }) => {
  const rows = ROWS.filter(({ name }) => only === undefined || name === only);
  if (!canIsolate())
    return runRows({ rows, seconds: cycles, isIsolated: false, stops: only === undefined, log });
  const child = spawn(
    'unshare',
    [...NAMESPACES, process.execPath, join(import.meta.dirname, 'isolated-main.ts')],
    { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] },
  );
  const broken: string[] = [];
  child.on('message', (message: { log?: string; broken?: string }) => {
    if (message.log !== undefined) log(message.log);
    if (message.broken !== undefined) broken.push(message.broken);
  });
  const settings: IsolatedSettings = {
    names: rows.map(({ name }) => name),
    seconds: cycles,
    stops: only === undefined,
  };
  child.send(settings);
  const [code, signal] = await once(child, 'close');
  return code === 0 ? broken : [...broken, `the drill's process ended with ${code ?? signal}`];
};

function canIsolate(): boolean {
  return TOOLS.every(([program, ...args]) => spawnSync(program as string, args).status === 0);
}
