import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { NetConnectOpts } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Fault } from '../fault-proxy.ts';
import type { NetworkRequest } from './network-main.ts';

// Between the service and its stores. Inside a network namespace of the drill, the proxies are in a second one, and a fault can
// also be real: the kernel drops what comes for a port, connections included, and says nothing.

export type NetworkFault = Fault | { readonly kind: 'dropped' };

export interface Network extends AsyncDisposable {
  /** The host that the service connects to. */
  readonly host: string;
  /** Puts a proxy before a server and returns its port. */
  open(name: string, target: NetConnectOpts): Promise<number>;
  set(name: string, fault: NetworkFault): Promise<void>;
}

const run = promisify(execFile);
const LOOPBACK = '127.0.0.1';
// Reserved for documentation, and used by nobody.
const NEAR = '192.0.2.1/30';
const FAR = '192.0.2.2';
const RULE = '5';
const LOCAL_RULE = '10';

/** `isIsolated` needs a network namespace that the drill may change. */
export async function openNetwork(isIsolated: boolean): Promise<Network> {
  await using stack = new AsyncDisposableStack();
  const child = startProxies(isIsolated);
  stack.defer(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.disconnect();
    await ended;
  });
  await once(child, 'message');
  if (isIsolated) await connectNamespaces(child.pid as number);
  const host = isIsolated ? FAR : LOOPBACK;
  const ports = new Map<string, number>();
  let dropped: number | undefined;
  let last: Promise<number> = Promise.resolve(0);
  const ask = (request: NetworkRequest): Promise<number> => {
    last = last.then(async () => {
      const answered = once(child, 'message');
      child.send(request);
      return (await answered)[0] as number;
    });
    return last;
  };
  const far = (...command: readonly string[]) => run('nsenter', ['-t', String(child.pid), '-n', ...command]);
  const open = stack.move();
  return {
    host,
    async open(name, target) {
      const port = await ask({ kind: 'open', name, target, host });
      ports.set(name, port);
      return port;
    },
    async set(name, fault) {
      if (dropped !== undefined) {
        await far('ip', 'rule', 'del', 'pref', RULE);
        dropped = undefined;
      }
      if (fault.kind !== 'dropped') {
        await ask({ kind: 'set', name, fault });
        return;
      }
      dropped = ports.get(name);
      const port = String(dropped);
      await far(...['ip', 'rule', 'add', 'pref', RULE, 'iif', 'far'], ...ruleOf(port));
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

function ruleOf(port: string): string[] {
  return ['ipproto', 'tcp', 'dport', port, 'blackhole'];
}

function startProxies(isIsolated: boolean): ChildProcess {
  const command = [process.execPath, join(import.meta.dirname, 'network-main.ts')];
  const [program, ...args] = isIsolated ? ['unshare', '--net', ...command] : command;
  return spawn(program as string, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
}

async function connectNamespaces(pid: number): Promise<void> {
  const near = (...args: readonly string[]) => run('ip', args);
  const far = (...args: readonly string[]) => run('nsenter', ['-t', String(pid), '-n', 'ip', ...args]);
  await near('link', 'add', 'near', 'type', 'veth', 'peer', 'name', 'far');
  await near('link', 'set', 'far', 'netns', String(pid));
  await near('addr', 'add', NEAR, 'dev', 'near');
  await near('link', 'set', 'near', 'up');
  await far('addr', 'add', `${FAR}/30`, 'dev', 'far');
  await far('link', 'set', 'far', 'up');
  await far('link', 'set', 'lo', 'up');
  // Room for a rule before the one that delivers.
  await far('rule', 'add', 'pref', LOCAL_RULE, 'table', 'local');
  await far('rule', 'del', 'pref', '0');
}
