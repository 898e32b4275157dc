import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { systemClock } from '@gatehouse/concurrency';
import { Secret } from '@gatehouse/contract';
import { createCertificate } from '@gatehouse/http/testing';
import { pino } from 'pino';
import { waitUntil } from '../journal/testing/wait-until.ts';
import { type FakeRedis, startFakeRedis } from '../testing/fake-redis.ts';
import type { RateLimiter } from './rate-limiter.ts';
import { openRedisRates, type RedisRatesOptions } from './redis-rates.ts';
import type { SharedRates } from './shared-rates.ts';

const PROCESSES = 4;

describe('rates that are counted in Redis', () => {
  let stack: AsyncDisposableStack;
  let redis: FakeRedis;
  let nowMs: number;
  let lines: { readonly event: string }[];
  const log = pino({ base: null }, { write: (line: string) => lines.push(JSON.parse(line)) });

  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    lines = [];
    nowMs = 1_000_000;
    redis = stack.use(await startFakeRedis());
  });
  afterEach(() => stack.disposeAsync());

  const pass = (ms: number) => {
    nowMs += ms;
    redis.nowUs += ms * 1_000;
  };
  const openGateway = async (more: Partial<RedisRatesOptions> = {}): Promise<SharedRates> => {
    const rates = await openRedisRates({
      address: { host: '127.0.0.1', port: redis.port, database: 0 },
      processes: PROCESSES,
      clock: { ...systemClock, monotonicMs: () => nowMs },
      log,
      settlingMs: 0,
      ...more,
    });
    stack.defer(() => rates.close());
    return rates;
  };
  const takeAll = async (rates: RateLimiter, key: string, n: number, limit: number) => {
    const decisions = await Promise.all(Array.from({ length: n }, () => rates.take(key, limit)));
    return decisions.filter(({ isAllowed }) => isAllowed).length;
  };
  const logged = (event: string, times = 1) =>
    waitUntil(event, () => lines.filter((line) => line.event === event).length >= times);
  const loseRedis = async () => {
    await redis.stop();
    await logged('rates.redis_lost');
  };
  const bringBack = async () => {
    await redis.start();
    await logged('rates.redis_recovered');
  };

  it('allows the limit once, whichever gateways ask, and tells each how the key stands', async () => {
    const [one, other] = [await openGateway(), await openGateway()];
    const key = randomUUID();
    const allowed = await Promise.all([one, other].map((rates) => takeAll(rates, key, 80, 100)));
    assert.equal((allowed[0] ?? 0) + (allowed[1] ?? 0), 100);
    const { isAllowed, limit, remaining, resetMs, retryAfterMs } = await one.peek(key, 100);
    assert.deepEqual([isAllowed, limit, remaining], [false, 100, 0]);
    assert.equal(resetMs, 60_000);
    assert.equal(retryAfterMs, 60_000);
    pass(59_999);
    assert.equal(await takeAll(other, key, 1, 100), 0);
    // The last of a hundred in one microsecond counts as 99 microseconds later.
    pass(1.1);
    assert.equal(await takeAll(other, key, 101, 100), 100);
    const { countedUs: _, ...fresh } = (await one.peek(randomUUID(), 7)) as object as Record<string, unknown>;
    assert.deepEqual(fresh, { isAllowed: true, limit: 7, remaining: 7, resetMs: 0, retryAfterMs: 0 });
    assert.equal(await takeAll(one, randomUUID(), 3, 0), 0);
  });

  it('never allows more than the limit in any 60 seconds over gateways, wherever they begin', async () => {
    const gateways = [await openGateway(), await openGateway(), await openGateway()];
    const key = randomUUID();
    const allowed: number[] = [];
    // A fixed walk of steps from 0 to 4 seconds, for 13 minutes; each step a burst at one or several of them.
    for (let step = 0; step < 400; step += 1) {
      pass((step * 7_919) % 4_001);
      const asked = gateways.filter((_, index) => step % (index + 1) === 0);
      const counts = await Promise.all(asked.map((rates) => takeAll(rates, key, 1 + (step % 4), 10)));
      for (const count of counts) allowed.push(...Array.from({ length: count }, () => nowMs));
    }
    assert.ok(allowed.length > 100);
    allowed.forEach((time, index) => {
      const eleventh = allowed[index + 10];
      if (eleventh !== undefined) assert.ok(eleventh - time >= 60_000);
    });
  });

  it('keeps as many times as the limit allows, and none once they are a minute old', async () => {
    const rates = await openGateway();
    const key = randomUUID();
    await takeAll(rates, key, 500, 40);
    assert.equal(redis.lengthOf(`gatehouse:rate:{${key}}`), 40);
    // Most of many are old: a pause after a burst.
    pass(30_000);
    assert.equal(await takeAll(rates, key, 50, 60), 20);
    pass(30_001);
    assert.equal((await rates.peek(key, 60)).remaining, 40);
    assert.equal(redis.lengthOf(`gatehouse:rate:{${key}}`), 20);
    pass(60_000);
    assert.equal((await rates.peek(key, 60)).remaining, 60);
    assert.deepEqual(redis.keys, ['gatehouse:{gateways}']);
  });

  it('waits, when a limit was lowered, until enough are old', async () => {
    const rates = await openGateway();
    const key = randomUUID();
    await takeAll(rates, key, 5, 10);
    pass(10_000);
    await takeAll(rates, key, 5, 10);
    pass(1_000);
    const { isAllowed, remaining, retryAfterMs } = await rates.take(key, 5);
    assert.deepEqual([isAllowed, remaining], [false, 0]);
    assert.ok(Math.abs(retryAfterMs - 59_000) < 1, String(retryAfterMs));
    pass(retryAfterMs);
    assert.equal(await takeAll(rates, key, 2, 5), 1);
    pass(1);
    assert.equal(await takeAll(rates, key, 9, 5), 4);
  });

  it('asks in one call for what comes in one turn of a key, and sends the script once', async () => {
    const rates = await openGateway();
    const key = randomUUID();
    await takeAll(rates, key, 10, 100);
    const before = redis.commands.length;
    await takeAll(rates, key, 10, 100);
    assert.deepEqual(
      redis.commands.slice(before).filter((name) => name.startsWith('eval')),
      ['evalsha'],
    );
    redis.clear();
    assert.equal(await takeAll(rates, key, 10, 100), 10, 'a server that forgot the script gets it again');
    assert.equal(lines.length, 0);
  });

  it('counts what is there as new when the clock of Redis is set back', async () => {
    const rates = await openGateway();
    const key = randomUUID();
    await takeAll(rates, key, 4, 10);
    redis.nowUs -= 3_600_000_000;
    assert.equal(await takeAll(rates, key, 10, 10), 6);
    pass(59_999);
    assert.equal(await takeAll(rates, key, 10, 10), 0);
    pass(1.1);
    assert.equal(await takeAll(rates, key, 20, 10), 10);
  });

  it('leaves each gateway its share without Redis, at least one request, and Redis hears of it afterwards', async () => {
    const rates = await openGateway();
    const [key, rare] = [randomUUID(), randomUUID()];
    assert.equal(await takeAll(rates, key, 10, 100), 10);
    pass(1_000);
    await loseRedis();
    // A quarter of 100, of which 10 are used.
    assert.equal(await takeAll(rates, key, 50, 100), 15);
    const { limit, remaining, isAllowed, retryAfterMs } = await rates.peek(key, 100);
    assert.deepEqual([limit, remaining, isAllowed], [100, 0, false]);
    assert.equal(retryAfterMs, 59_000);
    assert.equal(await takeAll(rates, rare, 5, 2), 1);
    assert.equal(await takeAll(rates, randomUUID(), 1, 0), 0);

    // It comes back empty.
    redis.clear();
    await bringBack();
    const other = await openGateway();
    assert.equal((await other.peek(key, 100)).remaining, 75);
    assert.equal(await takeAll(other, key, 100, 100), 75);
    // By its time: what was allowed a second earlier makes room a second earlier.
    pass(59_001);
    assert.equal(await takeAll(other, key, 100, 100), 10);
    assert.equal(await takeAll(other, rare, 5, 2), 1);
  });

  it('counts a request once, however much Redis kept of it', async () => {
    const rates = await openGateway();
    const key = randomUUID();
    assert.equal(await takeAll(rates, key, 10, 100), 10);
    pass(1_000);
    for (const kept of [true, true, false]) {
      await redis.stop();
      await logged('rates.redis_lost', lines.filter((line) => line.event === 'rates.redis_lost').length + 1);
      assert.equal(await takeAll(rates, key, 2, 100), 2);
      if (!kept) redis.clear();
      const recovered = lines.filter((line) => line.event === 'rates.redis_recovered').length;
      await redis.start();
      await logged('rates.redis_recovered', recovered + 1);
    }
    assert.equal((await rates.peek(key, 100)).remaining, 84);
  });

  it('keeps all gateways within the limit in a minute that begins before Redis was lost', async () => {
    const [one, other] = [await openGateway({ processes: 2 }), await openGateway({ processes: 2 })];
    const key = randomUUID();
    assert.equal(await takeAll(one, key, 80, 100), 80);
    // One request more lets it know what the first has used.
    assert.equal(await takeAll(other, key, 1, 100), 1);
    pass(1_000);
    await redis.stop();
    await logged('rates.redis_lost', 2);
    const sum = async () => (await takeAll(one, key, 100, 100)) + (await takeAll(other, key, 100, 100));
    const meanwhile = await sum();
    assert.ok(meanwhile > 0 && meanwhile <= 19, String(meanwhile));
    pass(58_000);
    assert.equal(await sum(), 0);
    pass(1_001);
    assert.ok((await sum()) <= 100 - meanwhile);
    pass(60_000);
    // Then each has its half.
    assert.equal(await takeAll(one, key, 100, 100), 50);
    assert.equal(await takeAll(other, key, 100, 100), 50);
  });

  it('holds a gateway to its share until the others have told an empty Redis of theirs', async () => {
    const [one, other] = [await openGateway({ settlingMs: 5_000 }), await openGateway({ settlingMs: 5_000 })];
    const key = randomUUID();
    await redis.stop();
    await logged('rates.redis_lost', 2);
    assert.equal(await takeAll(other, key, 50, 100), 25);
    redis.clear();
    await redis.start();
    await logged('rates.redis_recovered', 2);
    assert.equal(await takeAll(one, key, 100, 100), 25);
    pass(5_000);
    assert.equal(await takeAll(one, key, 100, 100), 50);
  });

  it('shares by the gateways that Redis has counted, once it knows more of them than the setting', async () => {
    const gateways = await Promise.all([1, 2, 3, 4, 5].map(() => openGateway({ processes: 2 })));
    const last = gateways.at(-1) as SharedRates;
    await loseRedis();
    const key = randomUUID();
    await waitUntil('all have lost it', () => redis.connections === 0);
    assert.ok([20, 25, 33].includes(await takeAll(last, key, 100, 100)));
  });

  it('gives up a Redis that does not answer in time, and a request waits no longer', async () => {
    const rates = await openGateway({ timeoutMs: 20 });
    const key = randomUUID();
    await takeAll(rates, key, 10, 100);
    redis.reply = 'silence';
    assert.equal(await takeAll(rates, key, 50, 100), 15);
    assert.deepEqual(
      lines.map(({ event }) => event),
      ['rates.redis_lost'],
    );
    redis.reply = undefined;
    await logged('rates.redis_recovered');
    // What it counted without saying so is counted again.
    assert.equal((await rates.peek(key, 100)).remaining, 75);
  });

  it('enforces its share when every call fails, and when what answers is no Redis', async () => {
    const replies = [
      '-READONLY You cannot write',
      '-LOADING loading',
      '-OOM no memory',
      '*1\r\n:1',
      '$3\r\nabc',
      ':7',
    ];
    for (const reply of [...replies, 'HTTP/1.1 400 Bad Request', '*5\r\n:1\r\n:1\r\n$1\r\nx\r\n:1\r\n:1']) {
      const rates = await openGateway();
      redis.reply = `${reply}\r\n`;
      assert.equal(await takeAll(rates, randomUUID(), 50, 100), 25, reply);
      redis.reply = undefined;
      await logged('rates.redis_recovered');
      assert.equal(await takeAll(rates, randomUUID(), 50, 100), 50);
      rates.close();
      lines = [];
    }
  });

  it('serves its share from the start when there is no Redis, and finds it later', async () => {
    await redis.stop();
    const opening = openGateway();
    await logged('rates.redis_lost');
    await redis.start();
    const rates = await opening;
    await logged('rates.redis_recovered');
    assert.equal(await takeAll(rates, randomUUID(), 50, 40), 40);
  });

  it('signs in, and writes the password into no log line', async () => {
    const closed = stack.use(await startFakeRedis({ password: 'correct-horse' }));
    const address = { host: '127.0.0.1', port: closed.port, database: 0 };
    const rates = await openGateway({ address: { ...address, password: new Secret('correct-horse') } });
    assert.equal(await takeAll(rates, randomUUID(), 9, 5), 5);
    const opening = openGateway({
      address: { ...address, username: 'someone', password: new Secret('wrong-horse') },
      firstConnectionMs: 100,
    });
    await logged('rates.redis_lost');
    assert.doesNotMatch(JSON.stringify(lines), /horse/);
    assert.match(JSON.stringify(lines), /WRONGPASS/);
    assert.equal(await takeAll(await opening, randomUUID(), 9, 8), 2);
  });

  it('talks over TLS to a server whose certificate it can verify, and to no other', async () => {
    const own = createCertificate({ names: ['127.0.0.1'] });
    const closed = stack.use(await startFakeRedis({ tls: own }));
    const address = { host: '127.0.0.1', port: closed.port, database: 0 };
    const rates = await openGateway({ address: { ...address, tls: { ca: own.cert.toString() } } });
    assert.equal(await takeAll(rates, randomUUID(), 9, 5), 5);
    const stranger = await openGateway({ address: { ...address, tls: {} }, firstConnectionMs: 100 });
    assert.equal(await takeAll(stranger, randomUUID(), 9, 8), 2);
    assert.match(JSON.stringify(lines), /rates.redis_lost.*self-signed certificate/);
  });

  it('leaves the count of gateways when it closes', async () => {
    const rates = await openGateway();
    rates.close();
    await waitUntil('it has left', () => redis.commands.includes('zrem'));
    assert.deepEqual(await takeAll(rates, randomUUID(), 9, 8), 2);
  });
});
