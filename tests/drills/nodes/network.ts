import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { access } from 'node:fs/promises';
import { promisify } from 'node:util';

// A fleet's machines on one machine: each node has a network namespace of its own, and all packets between a node and anything
// else pass a router, which can drop those between one node and one store. The stores, the balancer and the drill stay
// outside, each with an address of its own:
//
//   api-1 ──┐
//   api-2 ──┼── router ── postgres, redis, clickhouse, provider, balancer
//   …     ──┘
//
// Where namespaces cannot be made (not root, no iproute2), all have addresses of the loopback network, and nothing can be
// partitioned.

const run = promisify(execFile);
const ip = async (...args: readonly string[]) => (await run('ip', args)).stdout;

export const STORES = ['postgres', 'redis', 'clickhouse', 'provider', 'balancer'] as const;
export type Store = (typeof STORES)[number];

export interface Network extends AsyncDisposable {
  /** Why no node can be partitioned here; undefined where any can. */
  readonly withoutPartitions: string | undefined;
  /** Everything outside the nodes, as a range of addresses. */
  readonly outside: string;
  addressOf(name: string): string;
  /** The command that runs another on a node. */
  on(node: string): readonly string[];
  /** From here on no packet passes between the node and the store. Nothing is refused: it just never arrives. */
  partition(node: string, store: Store): Promise<void>;
  reconnect(node: string, store: Store): Promise<void>;
}

export async function openNetwork(nodes: readonly string[]): Promise<Network> {
  await removeLeftovers();
  const prefix = `gatehouse-${process.pid}-${randomInt(1_000)}`;
  try {
    await ip('netns', 'add', `${prefix}-router`);
  } catch (error) {
    return onLoopback(nodes, (error as Error).message.split('\n').at(-2) ?? String(error));
  }
  return inNamespaces(nodes, prefix);
}

async function inNamespaces(nodes: readonly string[], prefix: string): Promise<Network> {
  await using stack = new AsyncDisposableStack();
  const router = `${prefix}-router`;
  const removeOnDispose = (name: string) => stack.defer(async () => void (await ip('netns', 'del', name)));
  removeOnDispose(router);
  const net = await freeNet();
  const link = `gh${process.pid}-${randomInt(1_000)}`;
  await ip('link', 'add', link, 'type', 'veth', 'peer', 'name', 'outside', 'netns', router);
  stack.defer(async () => void (await ip('link', 'del', link)));
  for (const index of STORES.keys()) await ip('addr', 'add', `${net}.0.${10 + index}/24`, 'dev', link);
  await ip('link', 'set', link, 'up');
  await ip('-n', router, 'addr', 'add', `${net}.0.1/24`, 'dev', 'outside');
  await ip('-n', router, 'link', 'set', 'outside', 'up');
  await ip('route', 'add', `${net}.0.0/16`, 'via', `${net}.0.1`);
  // The file is of the namespace of the process that writes it.
  await run('ip', ['netns', 'exec', router, 'sh', '-c', 'echo 1 > /proc/sys/net/ipv4/ip_forward']);
  for (const [index, node] of nodes.entries()) {
    const name = `${prefix}-${node}`;
    await ip('netns', 'add', name);
    removeOnDispose(name);
    await ip('link', 'add', 'eth0', 'netns', name, 'type', 'veth', 'peer', 'name', node, 'netns', router);
    await ip('-n', name, 'addr', 'add', `${net}.${index + 1}.2/24`, 'dev', 'eth0');
    await ip('-n', router, 'addr', 'add', `${net}.${index + 1}.1/24`, 'dev', node);
    for (const [space, device] of [
      [name, 'lo'],
      [name, 'eth0'],
      [router, node],
    ] as const)
      await ip('-n', space, 'link', 'set', device, 'up');
    await ip('-n', name, 'route', 'add', 'default', 'via', `${net}.${index + 1}.1`);
  }
  const addressOf = addresses(nodes, net, 2);
  const drop = async (verb: 'add' | 'del', node: string, store: Store) => {
    const [inside, outside] = [addressOf(node), addressOf(store)];
    await ip('-n', router, 'rule', verb, 'from', inside, 'to', outside, 'blackhole');
    await ip('-n', router, 'rule', verb, 'from', outside, 'to', inside, 'blackhole');
  };
  const open = stack.move();
  return {
    withoutPartitions: undefined,
    outside: `${net}.0.0/24`,
    addressOf,
    on: (node) => ['ip', 'netns', 'exec', `${prefix}-${node}`],
    partition: (node, store) => drop('add', node, store),
    reconnect: (node, store) => drop('del', node, store),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

function onLoopback(nodes: readonly string[], reason: string): Network {
  const refuse = async () => {
    throw new Error(`no node can be partitioned: ${reason}`);
  };
  return {
    withoutPartitions: reason,
    outside: '127.0.0.0/8',
    // Another program would have to use the same of thousands of networks.
    addressOf: addresses(nodes, `127.${randomInt(1, 255)}`, randomInt(2, 255)),
    on: () => [],
    partition: refuse,
    reconnect: refuse,
    [Symbol.asyncDispose]: async () => undefined,
  };
}

function addresses(nodes: readonly string[], net: string, host: number): (name: string) => string {
  const known = new Map<string, string>([
    ...STORES.map((name, index) => [name, `${net}.0.${10 + index}`] as const),
    ...nodes.map((name, index) => [name, `${net}.${index + 1}.${host}`] as const),
  ]);
  return (name) => {
    const address = known.get(name);
    if (address === undefined) throw new Error(`nothing is called ${name}`);
    return address;
  };
}

/** The first two numbers of a network that this machine has no address in. */
async function freeNet(): Promise<string> {
  const used = await ip('-o', 'addr');
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const net = `10.${randomInt(64, 192)}`;
    if (!used.includes(` ${net}.`)) return net;
  }
  throw new Error('every network is in use');
}

/** Namespaces of drills that were killed. */
async function removeLeftovers(): Promise<void> {
  const listed = await ip('netns', 'list').catch(() => '');
  for (const [name, pid] of listed.matchAll(/^gatehouse-(\d+)-\S+/gm)) {
    const isAlive = await access(`/proc/${pid}`).then(
      () => true,
      () => false,
    );
    if (!isAlive) await ip('netns', 'del', name).catch(() => undefined);
  }
}
