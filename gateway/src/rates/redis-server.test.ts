import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, before, beforeEach, describe, it, type TestContext } from 'node:test';
import { systemClock } from '@gatehouse/concurrency';
import { Secret } from '@gatehouse/contract';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { waitUntil } from '../journal/testing/wait-until.ts';
import { findRedisServer, type RedisServer, startRedisServer } from '../testing/redis-server.ts';
import type { RateLimiter } from './rate-limiter.ts';
import type { RedisAddress } from './redis-client.ts';
import { openRedisRates } from './redis-rates.ts';
import type { SharedRates } from './shared-rates.ts';

// What the fake Redis of redis-rates.test.ts cannot show, on the Redis or Valkey of this machine.
describe('rates in a real Redis', () => {
  let program: string | undefined;
  let stack: AsyncDisposableStack;
  let events: string[];
  let reasons: string[];
  const log = pino(
    { base: null },
    {
      write: (line: string) => {
        const { event, reason } = JSON.parse(line);
        events.push(event);
        if (reason !== undefined) reasons.push(reason);
      },
    },
  );

  before(async () => {
    program = await findRedisServer();
  });
  beforeEach(() => {
    stack = new AsyncDisposableStack();
    events = [];
    reasons = [];
  });
  afterEach(() => stack.disposeAsync());

  const startServer = async (context: TestContext, settings?: readonly string[]) => {
    if (program === undefined) return void context.skip('no redis-server or valkey-server is installed');
    return stack.use(await startRedisServer(program, settings));
  };
  const openGateway = async (
    port: number,
    processes = 2,
    more: Partial<RedisAddress> = {},
    firstConnectionMs = 2_000,
  ): Promise<SharedRates> => {
    const address = { host: '127.0.0.1', port, database: 0, ...more };
    const rates = await openRedisRates({
      // A busy machine may keep Redis from an answer for longer than a gateway would wait; these tests are of what it answers.
      ...{ address, processes, clock: systemClock, log, settlingMs: 0, firstConnectionMs, timeoutMs: 10_000 },
    });
    stack.defer(() => rates.close());
    return rates;
  };
  const openClient = (port: number, password?: string): Redis => {
    const client = new Redis({ port, protocol: 2, disableClientInfo: true, ...(password && { password }) });
    // Its server may be killed.
    client.on('error', () => undefined);
    stack.defer(() => client.disconnect());
    return client;
  };
  const takeAll = async (rates: RateLimiter, key: string, n: number, limit: number) => {
    const decisions = await Promise.all(Array.from({ length: n }, () => rates.take(key, limit)));
    return decisions.filter(({ isAllowed }) => isAllowed).length;
  };
  const logged = (event: string, times: number) =>
    waitUntil(event, () => events.filter((one) => one === event).length >= times);

  it('counts alone while the memory of Redis is full, and says so once', async (context) => {
    const server = await startServer(context, ['--maxmemory', '1', '--maxmemory-policy', 'noeviction']);
    if (!server) return;
    const rates = await openGateway(server.port);
    assert.equal(rates.isShared?.(), false);
    assert.equal(await takeAll(rates, randomUUID(), 10, 10), 5);
    await openClient(server.port).config('SET', 'maxmemory', '0');
    await logged('rates.redis_recovered', 1);
    assert.deepEqual(events, ['rates.redis_lost', 'rates.redis_recovered']);
  });

  it('counts exactly over gateways, in bounded memory that expires', async (context) => {
    const server = await startServer(context);
    if (!server) return;
    const gateways = await Promise.all([1, 2, 3].map(() => openGateway(server.port)));
    const key = randomUUID();
    const counts = await Promise.all(gateways.map((rates) => takeAll(rates, key, 5_000, 6_000)));
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      6_000,
    );
    const client = openClient(server.port);
    const [name = ''] = await client.keys('gatehouse:rate:*');
    assert.equal(await client.llen(name), 6_000);
    assert.ok(Number(await client.memory('USAGE', name, 'SAMPLES', 0)) < 12 * 6_000);
    const expiresMs = await client.pttl(name);
    assert.ok(expiresMs > 0 && expiresMs <= 60_010, String(expiresMs));
    // Old ones leave: half of what is there is moved back in time by a minute.
    const times = await client.lrange(name, 0, 2_999);
    await Promise.all(
      times.map((time, index) => client.lset(name, index, String(Number(time) - 60_000_000))),
    );
    assert.equal((await gateways[0]?.peek(key, 6_000))?.remaining, 3_000);
    assert.equal(await client.llen(name), 3_000);
  });

  it('stays within the limit when it is killed and comes back empty', async (context) => {
    const server = await startServer(context);
    if (!server) return;
    const [one, other] = [await openGateway(server.port), await openGateway(server.port)];
    const key = randomUUID();
    const both = async () =>
      (await Promise.all([takeAll(one, key, 1_000, 1_000), takeAll(other, key, 20, 1_000)])).reduce(
        (a, b) => a + b,
      );
    let served = await takeAll(one, key, 300, 1_000);
    served += await takeAll(other, key, 300, 1_000);
    await server.kill();
    await logged('rates.redis_lost', 2);
    served += await both();
    assert.ok(served > 600 && served <= 1_000, String(served));
    await server.start();
    await logged('rates.redis_recovered', 2);
    served += await both();
    assert.equal(served, 1_000);
  });

  it('finds its way in a cluster', async (context) => {
    const cluster = ['--cluster-enabled', 'yes', '--cluster-require-full-coverage', 'no'];
    const nodes = [await startServer(context, cluster), await startServer(context, cluster)];
    const [first, second] = nodes;
    if (!first || !second) return;
    const clients = [openClient(first.port), openClient(second.port)] as const;
    await clients[0].cluster('ADDSLOTSRANGE', 0, 8_191);
    await clients[1].cluster('ADDSLOTSRANGE', 8_192, 16_383);
    await clients[1].cluster('SET-CONFIG-EPOCH', 2);
    await clients[0].cluster('MEET', '127.0.0.1', first.port);
    await clients[0].cluster('MEET', '127.0.0.1', second.port);
    await waitUntil('the cluster has met', async () =>
      (await Promise.all(clients.map((client) => client.cluster('INFO')))).every((info) =>
        /cluster_state:ok[\s\S]*cluster_slots_ok:16384/.test(String(info)),
      ),
    );
    const rates = await openGateway(first.port);
    const keys = Array.from({ length: 20 }, () => randomUUID());
    const counts = await Promise.all(keys.map((key) => takeAll(rates, key, 9, 7)));
    assert.deepEqual(
      counts,
      keys.map(() => 7),
    );
    const kept = await Promise.all(clients.map((client) => client.keys('gatehouse:rate:*')));
    assert.ok(kept.every((names) => names.length > 0));
    assert.deepEqual(events, []);
  });

  /** Three primaries, with a replica of the first. The others elect it when the first is gone. */
  const startCluster = async (context: TestContext): Promise<RedisServer[] | undefined> => {
    const settings = [
      '--cluster-enabled',
      'yes',
      '--cluster-node-timeout',
      '500',
      '--cluster-replica-validity-factor',
      '0',
    ];
    const nodes: RedisServer[] = [];
    for (let count = 0; count < 4; count += 1) {
      const node = await startServer(context, settings);
      if (!node) return undefined;
      nodes.push(node);
    }
    const clients = nodes.map(({ port }) => openClient(port));
    const [first, , , replica] = clients as [Redis, Redis, Redis, Redis];
    for (const [index, client] of clients.entries()) {
      if (client !== replica)
        await client.cluster('ADDSLOTSRANGE', index * 5_461, index === 2 ? 16_383 : (index + 1) * 5_461 - 1);
      // A node that has met others takes none any more.
      await client.cluster('SET-CONFIG-EPOCH', index + 1);
    }
    for (const client of clients)
      for (const { port } of nodes) await client.cluster('MEET', '127.0.0.1', port);
    const primary = String(await first.cluster('MYID'));
    await waitUntil('the replica knows its primary', async () =>
      String(await replica.cluster('NODES')).includes(primary),
    );
    await replica.cluster('REPLICATE', primary);
    await waitUntil('the cluster has a replica', async () => {
      const told = await Promise.all(clients.map((client) => client.cluster('NODES')));
      const infos = await Promise.all(clients.map((client) => client.cluster('INFO')));
      return (
        told.every((one) => String(one).includes(`slave ${primary} `)) &&
        infos.every((info) => /cluster_state:ok[\s\S]*cluster_slots_ok:16384/.test(String(info))) &&
        /master_link_status:up/.test(await replica.info('replication'))
      );
    });
    first.disconnect();
    return nodes;
  };

  it('counts exactly again when the cluster goes on without the node in the settings', async (context) => {
    const nodes = await startCluster(context);
    if (!nodes) return;
    const [first, ...others] = nodes as [RedisServer, ...RedisServer[]];
    const rates = await openGateway(first.port);
    assert.equal(rates.isShared?.(), true);
    const surviving = openClient((others[0] as RedisServer).port);
    await first.kill();
    await waitUntil('the replica has taken over', async () =>
      /cluster_state:ok[\s\S]*cluster_slots_ok:16384/.test(String(await surviving.cluster('INFO'))),
    );
    // Asked of every part of the cluster, so that a connection to the dead node cannot go unnoticed.
    await waitUntil('exact rates are back', async () => {
      await Promise.all(Array.from({ length: 30 }, () => rates.take(randomUUID(), 1_000)));
      return rates.isShared?.() === true;
    });
    const keys = Array.from({ length: 20 }, () => randomUUID());
    const counts = await Promise.all(keys.map((key) => takeAll(rates, key, 9, 7)));
    assert.deepEqual(
      counts,
      keys.map(() => 7),
    );
    // A process that starts now needs another address.
    const second = await openGateway(first.port, 2, {
      others: others.map(({ port }) => ({ host: '127.0.0.1', port })),
    });
    await waitUntil('the second is there', () => second.isShared?.() === true);
    const key = randomUUID();
    const both = await Promise.all([takeAll(rates, key, 9, 7), takeAll(second, key, 9, 7)]);
    assert.equal((both[0] ?? 0) + (both[1] ?? 0), 7);
  });

  it('takes the next address of several when the first does not answer', async (context) => {
    const [first, second] = [await startServer(context), await startServer(context)];
    if (!first || !second) return;
    await first.kill();
    const rates = await openGateway(first.port, 2, { others: [{ host: '127.0.0.1', port: second.port }] });
    await waitUntil('the second is used', () => rates.isShared?.() === true);
    assert.equal(await takeAll(rates, randomUUID(), 10, 7), 7);
  });

  it('says why Redis does not admit it: no room, no rights, no database', async (context) => {
    const because = async (
      expected: RegExp,
      more: Partial<RedisAddress>,
      settings: readonly string[],
      prepare: (client: Redis) => Promise<unknown> = (client) => client.ping(),
    ) => {
      const server = await startServer(context, settings);
      if (!server) return;
      const [password] = settings.slice(settings.indexOf('--requirepass') + 1);
      await prepare(openClient(server.port, settings.includes('--requirepass') ? password : undefined));
      reasons = [];
      await openGateway(server.port, 2, more, 0);
      await waitUntil(String(expected), () => reasons.length > 0);
      assert.match(reasons[0] ?? '', expected);
      assert.ok((reasons[0]?.length ?? 0) < 360);
      await server.kill();
    };
    // The client of the test is the one that it admits, and says so once it is admitted.
    await because(/^it has no room for another connection; raise maxclients/, {}, [], (client) =>
      client.config('SET', 'maxclients', '1'),
    );
    const refused = /^it does not accept the user or the password; correct REDIS_URL/;
    await because(refused, {}, ['--requirepass', 'secret']);
    await because(refused, { password: new Secret('hunter2') }, ['--requirepass', 'secret']);
    await because(/^it has no database of that number; correct the number/, { database: 5 }, [
      '--databases',
      '1',
    ]);
    await because(
      /^the user lacks a right; docs\/operations\.md lists them \(NOPERM/,
      { username: 'gatehouse', password: new Secret('secret') },
      [],
      (client) => client.call('ACL', 'SETUSER', 'gatehouse', 'on', '>secret', '~gatehouse:*', '+info'),
    );
  });

  it('says that Redis is in protected mode', async () => {
    // Redis says so to other machines alone, as its greeting, and closes the connection.
    const greeting = '-DENIED Redis is running in protected mode because protected mode is enabled\r\n';
    const server = createServer((socket) => socket.on('error', () => undefined).end(greeting));
    stack.defer(() => void server.close());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    await openGateway((server.address() as AddressInfo).port, 2, {}, 0);
    await waitUntil('the reason', () => reasons.length > 0);
    assert.match(
      reasons[0] ?? '',
      /^it is in protected mode, which admits no other machine; give it a password .* \(DENIED Redis is running/,
    );
  });

  it('needs the documented rights, and no others', async (context) => {
    const page = await readFile(new URL('../../../docs/operations.md', import.meta.url), 'utf8');
    const row = /^\| rights \| (.*) \|$/m.exec(page)?.[1] ?? '';
    const commands = [...row.matchAll(/`([A-Z]+)`/g)].map(([, name = '']) => name.toLowerCase());
    assert.ok(commands.length > 10);
    const server = await startServer(context);
    if (!server) return;
    const rights = commands.map((name) => `+${name}`);
    await openClient(server.port).call(
      'ACL',
      'SETUSER',
      'gatehouse',
      'on',
      '>secret',
      '~gatehouse:*',
      ...rights,
    );
    const login = { username: 'gatehouse', password: new Secret('secret') };
    for (const database of [0, 3]) {
      const rates = await openGateway(server.port, 2, { ...login, database });
      assert.equal(rates.isShared?.(), true, reasons.join());
      assert.equal(await takeAll(rates, randomUUID(), 10, 7), 7);
    }
    assert.deepEqual(events, []);
  });
});
