import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RedisServer, startRedisServer } from '@gatehouse/gateway/testing';
import { freePort } from '@gatehouse/http/testing';
import { Redis } from 'ioredis';
import { eventually } from '../../service-process.ts';

/** Redis as an operator runs it: alone, watched by sentinels, or a cluster. */
export interface RedisSetup extends AsyncDisposable {
  /** The addresses of REDIS_URL, with commas. */
  readonly addresses: string;
  /** True if another server takes over, so that rates are shared again while the killed one is away. */
  readonly takesOver: boolean;
  /** Kills the server that counts, and resolves when another has taken over, if one does. */
  kill(): Promise<void>;
  /** Starts the killed one again, empty, and resolves when the set-up is whole. */
  restore(): Promise<void>;
}

const SENTINELS = 3;
const SLOTS = 16_384;
const PRIMARIES = 3;

/** One server, which comes back empty. */
export async function startAlone(program: string): Promise<RedisSetup> {
  const server = await startRedisServer(program);
  return {
    addresses: addressesOf([server]),
    takesOver: false,
    kill: () => server.kill(),
    restore: () => server.start(),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** A primary and a replica, and three sentinels, which make the replica the primary. */
export async function startSentinels(program: string): Promise<RedisSetup> {
  await using stack = new AsyncDisposableStack();
  const servers = [stack.use(await startRedisServer(program)), stack.use(await startRedisServer(program))];
  const [first, second] = servers as [RedisServer, RedisServer];
  await tell(second, (client) => client.replicaof('127.0.0.1', first.port));
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-sentinel-'));
  stack.defer(() => rm(directory, { recursive: true, force: true }));
  const sentinels: number[] = [];
  for (let index = 0; index < SENTINELS; index += 1) {
    const port = await freePort();
    const file = join(directory, `${port}.conf`);
    await writeFile(
      file,
      `port ${port}
bind 127.0.0.1
dir ${directory}
sentinel monitor rates 127.0.0.1 ${first.port} 2
sentinel down-after-milliseconds rates 1000
sentinel failover-timeout rates 5000
`,
    );
    const child = spawn(program, [file, '--sentinel'], { stdio: 'ignore' });
    stack.defer(async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    });
    sentinels.push(port);
  }
  const [sentinel = 0] = sentinels;
  const primary = async () => {
    const answer = await ask(sentinel, (client) =>
      client.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'rates'),
    );
    return Number((answer as string[])[1]);
  };
  const isWhole = async () => {
    const state = String(await ask(sentinel, (client) => client.call('SENTINEL', 'MASTER', 'rates')));
    const roles = await Promise.all(
      servers.map((server) => tell(server, (client) => client.info('replication'))),
    );
    return (
      /num-slaves,1,/.test(state) &&
      new RegExp(`num-other-sentinels,${SENTINELS - 1},`).test(state) &&
      roles.filter((role) => role.includes('master_link_status:up')).length === 1
    );
  };
  await eventually(async () => (await isWhole().catch(() => false)) || undefined);
  let killed: RedisServer | undefined;
  const open = stack.move();
  return {
    // Of the two, only the primary takes a count.
    addresses: addressesOf(servers),
    takesOver: true,
    async kill() {
      const port = await primary();
      killed = servers.find((server) => server.port === port);
      await killed?.kill();
      await eventually(async () => (await primary()) !== port || undefined);
    },
    async restore() {
      await killed?.start();
      await eventually(async () => (await isWhole().catch(() => false)) || undefined);
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** Three primaries, the first of them with a replica. */
export async function startCluster(program: string): Promise<RedisSetup> {
  await using stack = new AsyncDisposableStack();
  const settings = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '1000'];
  // A replica that was cut off from its primary for a moment, by a busy machine, takes over all the same.
  settings.push('--cluster-replica-validity-factor', '0');
  const nodes: RedisServer[] = [];
  for (let index = 0; index <= PRIMARIES; index += 1)
    nodes.push(stack.use(await startRedisServer(program, settings)));
  const replica = nodes[PRIMARIES] as RedisServer;
  for (const [index, node] of nodes.entries())
    await tell(node, async (client) => {
      const from = Math.floor((index * SLOTS) / PRIMARIES);
      const to = Math.floor(((index + 1) * SLOTS) / PRIMARIES) - 1;
      if (node !== replica) await client.cluster('ADDSLOTSRANGE', from, to);
      await client.cluster('SET-CONFIG-EPOCH', index + 1);
    });
  for (const node of nodes)
    await tell(node, async (client) => {
      for (const { port } of nodes) await client.cluster('MEET', '127.0.0.1', port);
    });
  const isOk = async (node: RedisServer) =>
    /cluster_state:ok[\s\S]*cluster_slots_ok:16384/.test(
      String(await tell(node, (client) => client.cluster('INFO'))),
    );
  const areOk = async (asked: readonly RedisServer[]) =>
    (await Promise.all(asked.map((node) => isOk(node).catch(() => false)))).every(Boolean) || undefined;
  await eventually(() => areOk(nodes));
  // The pair of which one counts, and the other takes over.
  let [counting, waiting] = [nodes[0] as RedisServer, replica];
  const isReplicating = async () =>
    (await tell(waiting, (client) => client.info('replication'))).includes('master_link_status:up') ||
    undefined;
  const id = String(await tell(counting, (client) => client.cluster('MYID')));
  await eventually(() =>
    tell(replica, (client) => client.cluster('REPLICATE', id)).then(
      () => true,
      () => undefined,
    ),
  );
  await eventually(isReplicating);
  const open = stack.move();
  return {
    addresses: addressesOf(nodes),
    takesOver: true,
    async kill() {
      await counting.kill();
      [counting, waiting] = [waiting, counting];
      await eventually(
        async () =>
          (await tell(counting, (client) => client.info('replication'))).includes('role:master') || undefined,
      );
      await eventually(() => areOk(nodes.filter((node) => node !== waiting)));
    },
    async restore() {
      await waiting.start();
      await eventually(() => areOk(nodes));
      await eventually(isReplicating);
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

function addressesOf(servers: readonly RedisServer[]): string {
  return servers.map(({ port }) => `127.0.0.1:${port}`).join();
}

async function ask<T>(port: number, question: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis({ port, protocol: 2, disableClientInfo: true, retryStrategy: () => null });
  client.on('error', () => undefined);
  try {
    return await question(client);
  } finally {
    client.disconnect();
  }
}

function tell<T>({ port }: RedisServer, question: (client: Redis) => Promise<T>): Promise<T> {
  return ask(port, question);
}
