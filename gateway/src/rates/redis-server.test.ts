import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { afterEach, before, beforeEach, describe, it, type TestContext } from 'node:test';
import { systemClock } from '@gatehouse/concurrency';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { waitUntil } from '../journal/testing/wait-until.ts';
import { findRedisServer, startRedisServer } from '../testing/redis-server.ts';
import type { RateLimiter } from './rate-limiter.ts';
import { openRedisRates, type RedisRates } from './redis-rates.ts';

// What the fake Redis of redis-rates.test.ts cannot show, on the Redis or Valkey of this machine.
describe('rates in a real Redis', () => {
  let program: string | undefined;
  let stack: AsyncDisposableStack;
  let events: string[];
  const log = pino({ base: null }, { write: (line: string) => events.push(JSON.parse(line).event) });

  before(async () => {
    program = await findRedisServer();
  });
  beforeEach(() => {
    stack = new AsyncDisposableStack();
    events = [];
  });
  afterEach(() => stack.disposeAsync());

  const startServer = async (context: TestContext, settings?: readonly string[]) => {
    if (program === undefined) return void context.skip('no redis-server or valkey-server is installed');
    return stack.use(await startRedisServer(program, settings));
  };
  const openGateway = async (port: number, processes = 2): Promise<RedisRates> => {
    const address = { host: '127.0.0.1', port, database: 0 };
    const rates = await openRedisRates({ address, processes, clock: systemClock, log, settlingMs: 0 });
    stack.defer(() => rates.close());
    return rates;
  };
  const openClient = (port: number): Redis => {
    const client = new Redis({ port, protocol: 2, disableClientInfo: true });
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
});
