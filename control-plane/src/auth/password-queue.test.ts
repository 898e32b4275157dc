import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { ApiError } from '@gatehouse/contract';
import { createPasswordQueue, type PasswordCaller } from './password-queue.ts';

const gone = new AbortController().signal;
const from = (sourceIp: string, email?: string): PasswordCaller => ({ sourceIp, email, gone });
const CROWD = '192.0.2.';

/** Finishes the work that a test left running. */
let finishRest = async () => {};

/** A queue whose work finishes on command, in the order in which it began. */
function setUp(rejectionDelayMs = 0) {
  const queue = createPasswordQueue({ timeoutMs: 600_000, rejectionDelayMs });
  const working: { name: string; finish: () => void }[] = [];
  const order: string[] = [];
  const refused: string[] = [];
  const come = (name: string, caller: PasswordCaller) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    return queue
      .run(caller, () => {
        order.push(name);
        working.push({ name, finish: resolve });
        return promise;
      })
      .catch((error: unknown) => {
        assert.ok(error instanceof ApiError && error.status === 503);
        assert.equal(error.headers['retry-after'], '1');
        refused.push(name);
      });
  };
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
  const finishOne = async () => {
    working.shift()?.finish();
    await settle();
  };
  const finishAll = async () => {
    await settle();
    while (working.length > 0) await finishOne();
  };
  finishRest = finishAll;
  const crowd = (count: number) => {
    for (let n = 0; n < count; n += 1) void come('crowd', from(CROWD + (n % 250), `${n}@example.com`));
  };
  return { queue, come, crowd, order, refused, working, settle, finishOne, finishAll };
}

describe('the password queue', () => {
  afterEach(() => finishRest());

  it('runs four, queues twenty of a prefix, and rejects the others at once', async () => {
    const { crowd, refused, working, settle, finishAll, order } = setUp();
    crowd(500);
    await settle();
    assert.equal(working.length, 4);
    assert.equal(refused.length, 476);
    await finishAll();
    assert.equal(order.length, 24);
  });

  it('delays a thousand rejections and sends those beyond at once', async () => {
    const LONGER_THAN_THE_TEST_MS = 600_000;
    const { queue, refused, settle, come, finishAll } = setUp(LONGER_THAN_THE_TEST_MS);
    const leave = new AbortController();
    const all = Array.from({ length: 1_034 }, (_, n) =>
      come('crowd', { ...from(CROWD + (n % 250), `${n}@example.com`), gone: leave.signal }),
    );
    await settle();
    assert.equal(refused.length, 1_034 - 24 - 1_000);
    // Who leaves does not wait, and the next ones are delayed again.
    leave.abort();
    await settle();
    assert.equal(refused.length, 1_034 - 4);
    const free = queue.run(from('198.51.100.1', 'other@example.com'), async () => 'in');
    await finishAll();
    assert.equal(await free, 'in');
    await Promise.all(all);
  });

  it('admits new callers of another prefix while a crowd fills its own part of the queue', async () => {
    const { come, crowd, refused, order, working, settle, finishOne, finishAll } = setUp();
    crowd(500);
    await settle();
    for (let n = 0; n < 69; n += 1) {
      void come(`right ${n}`, from('198.51.100.7', `right${n}@example.com`));
      // The crowd refills every free permit.
      for (let permits = 0; !order.includes(`right ${n}`); permits += 1) {
        assert.ok(permits < 6, `the right sign-in ${n} waits for ${permits} others`);
        await finishOne();
        crowd(50);
        await settle();
      }
    }
    assert.ok(working.length <= 4);
    assert.ok(!refused.some((name) => name !== 'crowd'));
    await finishAll();
  });

  it('admits every account of the same prefix that signed in before, also all at once', async () => {
    const { queue, come, crowd, refused, order, settle, finishOne } = setUp();
    const emails = Array.from({ length: 69 }, (_, n) => `right${n}@example.com`);
    for (const email of emails) queue.remember(from(`${CROWD}9`, email));
    crowd(500);
    await settle();
    for (const email of emails) void come(email, from(`${CROWD}77`, email));
    // At least every second permit is theirs.
    for (let permits = 0; permits < 2 * emails.length + 6; permits += 1) {
      await finishOne();
      crowd(50);
      await settle();
    }
    assert.deepEqual(order.filter((name) => name !== 'crowd').toSorted(), emails.toSorted());
    assert.ok(!refused.some((name) => name !== 'crowd'));
  });

  it('keeps one permit for an account, and none in another prefix', async () => {
    const { queue, come, crowd, refused, settle } = setUp();
    queue.remember(from(`${CROWD}9`, 'known@example.com'));
    crowd(500);
    await settle();
    const before = refused.length;
    void come('first', from(`${CROWD}1`, 'known@example.com'));
    void come('second', from(`${CROWD}1`, 'known@example.com'));
    await settle();
    assert.deepEqual(refused.slice(before), ['second']);
    for (let n = 0; n < 20 + 2; n += 1) void come('elsewhere', from('203.0.113.1', 'known@example.com'));
    await settle();
    assert.deepEqual(refused.slice(before + 1), ['elsewhere', 'elsewhere']);
  });

  it('drops a request of the largest prefix for one of a new prefix, when two hundred are queued', async () => {
    const { come, refused, settle, order, finishAll } = setUp();
    for (let prefix = 0; prefix < 20; prefix += 1)
      for (let n = 0; n < 20; n += 1) void come(`crowd ${prefix}`, from(`10.0.${prefix}.1`));
    await settle();
    const before = refused.length;
    void come('newcomer', from('198.51.100.1'));
    await settle();
    assert.equal(refused.length, before + 1);
    assert.match(refused.at(-1) ?? '', /^crowd/);
    await finishAll();
    assert.equal(order.length, 4 + 200);
    assert.ok(order.includes('newcomer'));
  });

  it('forgets the account with the oldest sign-in beyond ten thousand', async () => {
    const { queue, come, crowd, refused, settle } = setUp();
    for (let n = 0; n <= 10_000; n += 1) queue.remember(from(`${CROWD}9`, `known${n}@example.com`));
    crowd(500);
    await settle();
    const before = refused.length;
    void come('oldest', from(`${CROWD}1`, 'known0@example.com'));
    void come('next', from(`${CROWD}1`, 'known1@example.com'));
    await settle();
    assert.deepEqual(refused.slice(before), ['oldest']);
  });

  it('returns the permit when the caller leaves, and when the work fails', async () => {
    const { queue, crowd, working, order, settle, finishAll, come } = setUp();
    const leaving = new AbortController();
    crowd(4);
    await settle();
    const left = assert.rejects(
      queue.run({ ...from('198.51.100.1'), gone: leaving.signal }, async () => order.push('gone')),
      { status: 503 },
    );
    leaving.abort();
    await left;
    await finishAll();
    await assert.rejects(
      queue.run(from('198.51.100.1'), () => Promise.reject(new Error('no hash'))),
      { message: 'no hash' },
    );
    for (let n = 0; n < 4; n += 1) void come('after', from('198.51.100.1'));
    await settle();
    assert.equal(working.length, 4);
    assert.ok(!order.includes('gone'));
  });
});
