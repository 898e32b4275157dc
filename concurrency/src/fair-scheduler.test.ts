import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import {
  createFairScheduler,
  type FairScheduler,
  type Permit,
  PermitTimeout,
  QueueFull,
} from './fair-scheduler.ts';
import { casesOf } from './testing/index.ts';

const { seed: SEED, count: HISTORIES } = casesOf(20_261_123, 40);
const never = new AbortController().signal;

/** Random numbers from 0 up to 1, the same for the same seed. */
function seededRandom(seed: number): () => number {
  let count = 0;
  return () => {
    count += 1;
    return createHash('sha256').update(`${seed} ${count}`).digest().readUInt32BE() / 2 ** 32;
  };
}

/** Resolves after the continuations of all settled promises have run. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Asks for a permit, and notes the name in the order in which permits are given. */
function start(scheduler: FairScheduler, order: string[], tenantId: string, name: string, signal = never) {
  const acquired = scheduler.acquire(tenantId, signal);
  acquired.then(
    () => order.push(name),
    () => undefined,
  );
  return acquired;
}

describe('a fair scheduler', () => {
  it('gives a permit at once while there are any', async () => {
    const scheduler = createFairScheduler({ permits: 3, permitsPerTenant: 2, queuePerTenant: 10 });
    const order: string[] = [];
    for (const [tenant, name] of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map((text) => [text[0], text])) {
      void start(scheduler, order, String(tenant), String(name));
    }
    await settle();
    // The third of a waits though there is room, and then there is none.
    assert.deepEqual(order, ['a1', 'a2', 'b1']);
  });

  it('gives the next permit to the tenant with the fewest, and among those to the one that has waited longest', async () => {
    const scheduler = createFairScheduler({ permits: 2, permitsPerTenant: 2, queuePerTenant: 300 });
    const order: string[] = [];
    const permits = [await start(scheduler, order, 'a', 'a1'), await start(scheduler, order, 'a', 'a2')];
    const later: Promise<Permit>[] = [];
    for (let count = 3; count <= 200; count += 1) later.push(start(scheduler, order, 'a', `a${count}`));
    later.push(
      start(scheduler, order, 'b', 'b1'),
      start(scheduler, order, 'c', 'c1'),
      start(scheduler, order, 'b', 'b2'),
    );
    permits[0]?.[Symbol.dispose]();
    permits[1]?.[Symbol.dispose]();
    await settle();
    // The second tenant waits for one permit of the crowd, not for two hundred.
    assert.deepEqual(order, ['a1', 'a2', 'b1', 'c1']);
    (await later[198])?.[Symbol.dispose]();
    await settle();
    assert.deepEqual(order.slice(4), ['a3']);
    (await later[199])?.[Symbol.dispose]();
    await settle();
    assert.deepEqual(order.slice(5), ['b2']);
  });

  it('gives it to a tenant without one rather than to a tenant that has waited longer for another', async () => {
    const scheduler = createFairScheduler({ permits: 3, permitsPerTenant: 2, queuePerTenant: 10 });
    const order: string[] = [];
    await start(scheduler, order, 'a', 'a1');
    const permit = await start(scheduler, order, 'b', 'b1');
    await start(scheduler, order, 'b', 'b2');
    void start(scheduler, order, 'a', 'a2');
    void start(scheduler, order, 'c', 'c1');
    permit[Symbol.dispose]();
    await settle();
    assert.deepEqual(order.slice(3), ['c1']);
  });

  it('takes a permit back once, however often it is disposed', async () => {
    const scheduler = createFairScheduler({ permits: 1, permitsPerTenant: 1, queuePerTenant: 10 });
    const order: string[] = [];
    const first = await start(scheduler, order, 'a', 'a1');
    for (const name of ['b1', 'c1', 'd1']) void start(scheduler, order, String(name[0]), name);
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    await settle();
    first[Symbol.dispose]();
    await settle();
    assert.deepEqual(order, ['a1', 'b1']);
  });

  it('throws the reason of a signal that aborts before the permit comes, and gives that waiter none', async () => {
    const scheduler = createFairScheduler({ permits: 1, permitsPerTenant: 1, queuePerTenant: 10 });
    const order: string[] = [];
    const first = await start(scheduler, order, 'a', 'a1');
    const gone = new AbortController();
    const waiting = start(scheduler, order, 'b', 'b1', gone.signal);
    const next = start(scheduler, order, 'c', 'c1');
    const reason = new Error('gone');
    gone.abort(reason);
    await assert.rejects(waiting, reason);
    await assert.rejects(scheduler.acquire('b', gone.signal), reason);
    first[Symbol.dispose]();
    (await next)[Symbol.dispose]();
    assert.deepEqual(order, ['a1', 'c1']);
    (await scheduler.acquire('b', never))[Symbol.dispose]();
  });

  it('keeps the permit of a signal that aborts afterwards until it is returned', async () => {
    const scheduler = createFairScheduler({ permits: 1, permitsPerTenant: 1, queuePerTenant: 10 });
    const order: string[] = [];
    const gone = new AbortController();
    const first = await scheduler.acquire('a', never);
    const second = scheduler.acquire('a', gone.signal);
    first[Symbol.dispose]();
    gone.abort();
    const permit = await second;
    void start(scheduler, order, 'b', 'b1');
    await settle();
    assert.deepEqual(order, []);
    permit[Symbol.dispose]();
    await settle();
    assert.deepEqual(order, ['b1']);
  });

  it('throws QueueFull at once where too many of the tenant wait, and for no other tenant', async () => {
    const scheduler = createFairScheduler({ permits: 1, permitsPerTenant: 1, queuePerTenant: 2 });
    const permit = await scheduler.acquire('a', never);
    const waiting = [scheduler.acquire('a', never), scheduler.acquire('a', never)];
    await assert.rejects(scheduler.acquire('a', never), QueueFull);
    const other = scheduler.acquire('b', never);
    permit[Symbol.dispose]();
    (await other)[Symbol.dispose]();
    (await waiting[0])?.[Symbol.dispose]();
    (await waiting[1])?.[Symbol.dispose]();
  });

  it('displaces the last of a longer queue where the queues together are full', async () => {
    const scheduler = createFairScheduler({
      permits: 1,
      permitsPerTenant: 1,
      queuePerTenant: 5,
      queueTotal: 4,
    });
    const order: string[] = [];
    const permit = await scheduler.acquire('z', never);
    const crowd = ['a1', 'a2', 'a3', 'b1'].map((name) => start(scheduler, order, String(name[0]), name));
    // A third of b would make its queue as long as that of a.
    const [second, refused] = [start(scheduler, order, 'b', 'b2'), start(scheduler, order, 'b', 'b3')];
    await assert.rejects(crowd[2] as Promise<Permit>, QueueFull);
    await assert.rejects(refused, QueueFull);
    const third = start(scheduler, order, 'c', 'c1');
    await assert.rejects(Promise.race([crowd[1], second]) as Promise<Permit>, QueueFull);
    // Of each tenant one waits, and a second one of b.
    permit[Symbol.dispose]();
    for (const waiting of [...crowd, third, second]) {
      await waiting.then(
        (given) => given[Symbol.dispose](),
        () => undefined,
      );
    }
    assert.deepEqual(order.slice(0, 3), ['a1', 'b1', 'c1']);
    assert.equal(order.length, 4);
    assert.equal(scheduler.tenants(), 0);
  });

  it('throws PermitTimeout when the permit does not come in time, and gives that waiter none', async () => {
    const timeouts: (() => void)[] = [];
    const cancelled: number[] = [];
    const after = (ms: number, callback: () => void) => {
      assert.equal(ms, 50);
      const index = timeouts.push(callback) - 1;
      return () => cancelled.push(index);
    };
    const options = { permits: 1, permitsPerTenant: 1, queuePerTenant: 5, timeoutMs: 50, clock: { after } };
    const scheduler = createFairScheduler(options);
    const permit = await scheduler.acquire('a', never);
    const waiting = scheduler.acquire('b', never);
    timeouts[0]?.();
    await assert.rejects(waiting, PermitTimeout);
    assert.equal(scheduler.tenants(), 1);
    const next = scheduler.acquire('b', never);
    permit[Symbol.dispose]();
    (await next)[Symbol.dispose]();
    assert.deepEqual(cancelled, [0, 1]);
    assert.equal(scheduler.tenants(), 0);
  });

  it('gives a permit without a promise only where none has to wait', async () => {
    const scheduler = createFairScheduler({ permits: 2, permitsPerTenant: 1, queuePerTenant: 5 });
    const first = scheduler.tryAcquire('a');
    assert.ok(first);
    assert.equal(scheduler.tryAcquire('a'), undefined);
    const waiting = scheduler.acquire('a', never);
    const second = scheduler.tryAcquire('b');
    assert.ok(second);
    assert.equal(scheduler.tryAcquire('c'), undefined);
    first[Symbol.dispose]();
    (await waiting)[Symbol.dispose]();
    second[Symbol.dispose]();
    assert.equal(scheduler.tenants(), 0);
  });

  it('remembers no tenant that neither has a permit nor waits', async () => {
    for (const waiting of [0, 1]) {
      const scheduler = createFairScheduler({ permits: 1, permitsPerTenant: 1, queuePerTenant: waiting });
      const gone = new AbortController();
      const permit = await scheduler.acquire('a', never);
      await Promise.allSettled(
        Array.from({ length: 100 }, (_, index) => {
          const acquiring = scheduler.acquire(`o${index}`, gone.signal);
          if (index === 99) gone.abort();
          return acquiring;
        }),
      );
      assert.equal(scheduler.tenants(), 1);
      permit[Symbol.dispose]();
      assert.equal(scheduler.tenants(), 0);
    }
  });

  it(`keeps every limit and starves no tenant, in random histories (seed ${SEED})`, async () => {
    const random = seededRandom(SEED);
    const below = (limit: number) => Math.floor(random() * limit);
    const pick = <T>(from: readonly T[]): T => from[below(from.length)] as T;
    for (let history = 0; history < HISTORIES; history += 1) {
      const options = { permits: 1 + below(5), permitsPerTenant: 1 + below(3), queuePerTenant: 1 + below(6) };
      const scheduler = createFairScheduler(options);
      const tenants = ['a', 'b', 'c', 'd', 'e', 'f'].slice(0, 1 + below(6));
      const what = `seed ${SEED}, history ${history}: ${JSON.stringify(options)}`;
      // The model: who holds a permit, who waits in which order, and how many permits were given since.
      const running: { tenant: string; permit: Permit }[] = [];
      const queues = new Map(tenants.map((name) => [name, [] as Waiting[]]));
      const runningOf = (name: string) => running.filter(({ tenant }) => tenant === name).length;

      const check = () => {
        assert.ok(running.length <= options.permits, what);
        for (const [name, queue] of queues) {
          assert.ok(
            runningOf(name) <= options.permitsPerTenant && queue.length <= options.queuePerTenant,
            what,
          );
          // None waits while it could have a permit.
          const isFree = running.length < options.permits && runningOf(name) < options.permitsPerTenant;
          assert.ok(queue.length === 0 || !isFree, `${what}: ${name} waits while there is room`);
        }
      };

      for (let step = 0; step < 150; step += 1) {
        const tenant = pick(tenants);
        const queue = queues.get(tenant) ?? assert.fail();
        const choice = random();
        if (choice < 0.5) {
          const gone = new AbortController();
          const waiting: Waiting = { gone, since: 0 };
          queue.push(waiting);
          scheduler.acquire(tenant, gone.signal).then(
            (permit) => {
              // Within a tenant, permits come in the order of asking.
              assert.equal(queue.shift(), waiting, what);
              running.push({ tenant, permit });
              for (const [name, others] of queues) {
                if (name === tenant || others.length === 0 || runningOf(name) > 0) continue;
                const [first] = others;
                if (!first) continue;
                first.since += 1;
                // Every other tenant gets at most one permit before one that has none.
                assert.ok(first.since < tenants.length, `${what}: ${name} starves`);
              }
            },
            (error) => {
              const isFull = error instanceof QueueFull;
              assert.ok(isFull || error === gone.signal.reason, what);
              queue.splice(queue.indexOf(waiting), 1);
              if (isFull) assert.equal(queue.length, options.queuePerTenant, what);
            },
          );
        } else if (choice < 0.9) {
          const [ended] = running.splice(below(running.length), 1);
          ended?.permit[Symbol.dispose]();
        } else {
          pick(queue)?.gone.abort(new Error('gone'));
        }
        await settle();
        check();
      }

      for (let rounds = 0; running.length > 0; rounds += 1) {
        assert.ok(rounds < 1_000, what);
        running.pop()?.permit[Symbol.dispose]();
        await settle();
        check();
      }
      assert.ok(
        [...queues.values()].every((queue) => queue.length === 0),
        what,
      );
      assert.equal(scheduler.tenants(), 0, what);
    }
  });
});

interface Waiting {
  readonly gone: AbortController;
  /** Permits given to others while it was first in the queue of a tenant without one. */
  since: number;
}
