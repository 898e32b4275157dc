import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { systemClock } from '@gatehouse/concurrency';
import { Secret } from '@gatehouse/contract';
import { pino } from 'pino';
import { waitUntil } from '../journal/testing/wait-until.ts';
import { type FakeRedis, startFakeRedis } from '../testing/fake-redis.ts';
import { findRedisServer, startRedisServer } from '../testing/redis-server.ts';
import { openRedisRates } from './redis-rates.ts';
import type { SharedRates } from './shared-rates.ts';

const LIMIT = 7;
const program = await findRedisServer();

describe('a Redis that may evict what is counted', () => {
  let stack: AsyncDisposableStack;
  let lines: Record<string, unknown>[];
  const log = pino({ base: null }, { write: (line: string) => lines.push(JSON.parse(line)) });
  beforeEach(() => {
    stack = new AsyncDisposableStack();
    lines = [];
  });
  afterEach(() => stack.disposeAsync());

  const openGateway = async (port: number, user: object = {}): Promise<SharedRates> => {
    const address = { host: '127.0.0.1', port, database: 0, ...user };
    const rates = await openRedisRates({
      // A busy machine may keep an answer for longer than a gateway would wait; these tests are of what is answered.
      ...{ address, processes: 2, clock: systemClock, log, settlingMs: 0, timeoutMs: 10_000 },
    });
    stack.defer(() => rates.close());
    return rates;
  };
  const warned = () =>
    waitUntil('a warning', () => lines.some(({ event }) => event === 'rates.redis_may_evict'));
  const told = () => lines.map(({ level, event, policy }) => [level, event, policy]);
  const counts = async (rates: SharedRates) => {
    const keyId = randomUUID();
    const decisions = await Promise.all(Array.from({ length: 9 }, () => rates.take(keyId, LIMIT)));
    assert.equal(decisions.filter(({ isAllowed }) => isAllowed).length, LIMIT);
    assert.equal(rates.isShared?.(), true);
  };

  describe('in a Redis of the tests', () => {
    let redis: FakeRedis;
    beforeEach(async () => {
      redis = stack.use(await startFakeRedis());
    });
    /** By the order of the commands, the answers to the questions have come. */
    const answered = async (rates: SharedRates, question: string) => {
      await waitUntil(question, () => redis.commands.includes(question));
      await counts(rates);
    };

    it('is named once, however often it is connected to', async () => {
      redis.memoryInfo = '# Memory\r\nmaxmemory:0\r\nmaxmemory_policy:allkeys-lru\r\nallocator:libc\r\n';
      const rates = await openGateway(redis.port);
      await warned();
      assert.deepEqual(lines[0], {
        ...lines[0],
        level: 40,
        event: 'rates.redis_may_evict',
        host: '127.0.0.1',
        port: redis.port,
        policy: 'allkeys-lru',
      });
      await counts(rates);
      await redis.stop();
      await redis.start();
      await waitUntil('it counts again', () => lines.some(({ event }) => event === 'rates.redis_recovered'));
      redis.memoryInfo = 'maxmemory_policy:volatile-ttl\r\n';
      await redis.stop();
      await redis.start();
      await waitUntil('the other policy', () => lines.some(({ policy }) => policy === 'volatile-ttl'));
      const policies = lines.flatMap(({ policy }) => policy ?? []);
      assert.deepEqual(policies, ['allkeys-lru', 'volatile-ttl']);
    });

    it('is asked by CONFIG GET where INFO does not say', async () => {
      redis.maxmemoryPolicy = 'volatile-lru';
      await counts(await openGateway(redis.port));
      await warned();
      assert.deepEqual(told(), [[40, 'rates.redis_may_evict', 'volatile-lru']]);
    });

    for (const [what, memoryInfo, maxmemoryPolicy, last] of [
      ['keeps all, by INFO', 'maxmemory_policy:noeviction\r\n', undefined, 'info'],
      ['keeps all, by CONFIG GET', undefined, 'noeviction', 'config'],
      ['refuses both questions', undefined, undefined, 'config'],
      ['answers nonsense', 'maxmemory_policy:', 'x'.repeat(99), 'config'],
    ] as const)
      it(`is not one that ${what}: nothing is said, and it counts`, async () => {
        Object.assign(redis, { memoryInfo, maxmemoryPolicy });
        const rates = await openGateway(redis.port);
        await answered(rates, last);
        assert.deepEqual(told(), []);
      });
  });

  describe('in the Redis or Valkey of this machine', {
    skip: program === undefined && 'no redis-server or valkey-server is installed',
  }, () => {
    const start = async (...settings: string[]) =>
      stack.use(await startRedisServer(program ?? '', ['--maxmemory', '100mb', ...settings]));
    const USER = { username: 'gateway', password: new Secret('correct-horse') };
    const evicting = (withoutRights: string) =>
      start(
        ...['--maxmemory-policy', 'allkeys-lfu', '--user'],
        ...`gateway on >correct-horse ~gatehouse:* +@all ${withoutRights}`.split(' '),
      );

    it('is named, also to a user who may not read its configuration', async () => {
      const { port } = await evicting('-config');
      await counts(await openGateway(port, USER));
      await warned();
      assert.deepEqual(told(), [[40, 'rates.redis_may_evict', 'allkeys-lfu']]);
    });

    it('is not named as it is by default, nor to a user who may ask nothing', async () => {
      await counts(await openGateway((await start()).port));
      const { port } = await evicting('-config -info');
      const rates = await openGateway(port, USER);
      // The second question is asked after the first answer.
      await counts(rates);
      await counts(rates);
      assert.deepEqual(told(), []);
    });
  });
});
