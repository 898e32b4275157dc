import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { rateHeaders, retryAfterSeconds } from './rate-limiter.ts';
import { createSlidingWindow, SlidingWindow } from './sliding-window.ts';

describe('sliding window', () => {
  let nowMs = 0;
  let rates: ReturnType<typeof createSlidingWindow>;
  beforeEach(() => {
    nowMs = 1_000;
    rates = createSlidingWindow(() => nowMs);
  });
  const takeAll = async (n: number, limit: number) => {
    let allowed = 0;
    for (let taken = 0; taken < n; taken += 1) {
      if ((await rates.take('key', limit)).isAllowed) allowed += 1;
    }
    return allowed;
  };

  it('allows the limit and then no more, until the first of them is 60 seconds old', async () => {
    assert.equal(await takeAll(5, 3), 3);
    nowMs += 59_999;
    assert.equal(await takeAll(1, 3), 0);
    nowMs += 1;
    assert.equal(await takeAll(5, 3), 3);
  });

  it('never allows more than the limit in any 60 seconds, wherever they begin', async () => {
    const allowed: number[] = [];
    // A fixed walk of steps from 0 to 4 seconds, for an hour.
    for (let step = 0; nowMs < 3_600_000; step += 1) {
      nowMs += (step * 7_919) % 4_001;
      if ((await rates.take('key', 10)).isAllowed) allowed.push(nowMs);
    }
    assert.ok(allowed.length > 500);
    allowed.forEach((time, index) => {
      const eleventh = allowed[index + 10];
      if (eleventh !== undefined) assert.ok(eleventh - time >= 60_000);
    });
  });

  it('does not count what it refuses, nor a look', async () => {
    await takeAll(3, 3);
    nowMs += 30_000;
    await takeAll(10, 3);
    await rates.peek('key', 3);
    nowMs += 30_000;
    assert.equal(await takeAll(3, 3), 3);
  });

  it('says what is left, when it is all free again, and when to come back', async () => {
    assert.deepEqual(rateHeaders(await rates.peek('key', 2)), {
      'x-ratelimit-limit-requests': '2',
      'x-ratelimit-remaining-requests': '2',
      'x-ratelimit-reset-requests': '0s',
    });
    await rates.take('key', 2);
    nowMs += 20_500;
    const second = await rates.take('key', 2);
    assert.deepEqual(rateHeaders(second), {
      'x-ratelimit-limit-requests': '2',
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '60s',
    });
    const refused = await rates.take('key', 2);
    assert.equal(refused.isAllowed, false);
    assert.equal(refused.retryAfterMs, 39_500);
    assert.equal(retryAfterSeconds(refused), 40);
    assert.equal(refused.resetMs, 60_000);
  });

  it('holds a lowered limit at once, and waits until enough are old', async () => {
    for (let taken = 0; taken < 10; taken += 1) {
      nowMs += 1_000;
      await rates.take('key', 10);
    }
    const refused = await rates.take('key', 3);
    assert.equal(refused.isAllowed, false);
    assert.equal(refused.remaining, 0);
    nowMs += refused.retryAfterMs - 1;
    assert.equal((await rates.peek('key', 3)).isAllowed, false);
    nowMs += 1;
    assert.equal((await rates.take('key', 3)).isAllowed, true);
    assert.equal((await rates.take('key', 10)).isAllowed, true);
  });

  it('never says more than 60 seconds, whatever fractions the clock has', async () => {
    let hadLargerSum = false;
    for (let power = 17; power <= 40; power += 1) {
      for (let fraction = 1; fraction <= 20; fraction += 1) {
        // A minute later the numbers are too large for the last digit of these.
        nowMs = 2 ** power - 30_000 + fraction / 7;
        hadLargerSum ||= nowMs + 60_000 - nowMs > 60_000;
        const key = `${power} ${fraction}`;
        const taken = await rates.take(key, 1);
        assert.ok(taken.isAllowed);
        assert.equal(rateHeaders(taken)['x-ratelimit-reset-requests'], '60s');
        const refused = await rates.take(key, 1);
        assert.ok(!refused.isAllowed);
        assert.equal(refused.resetMs, 60_000);
        assert.equal(retryAfterSeconds(refused), 60);
      }
    }
    assert.ok(hadLargerSum, 'none of these times would have shown the mistake');
  });

  it('counts what was allowed elsewhere by its time, in whatever order it is told', () => {
    const window = new SlidingWindow(() => nowMs);
    // Enough for the ring to have wrapped and grown.
    for (let n = 0; n < 20; n += 1) {
      window.take('key', 100);
      nowMs += 1_000;
    }
    nowMs += 45_000;
    for (const ageMs of [50_000, 59_999, 60_000, 10, 30_000]) window.remember('key', ageMs);
    const ages = [...Array.from({ length: 14 }, (_, n) => 46_000 + n * 1_000), 50_000, 59_999, 10, 30_000];
    const begunAtMs = nowMs;
    for (const later of [0, 1, 1_000, 9_999, 10_000, 14_000, 30_000, 59_989, 59_990]) {
      nowMs = begunAtMs + later;
      const counted = ages.filter((age) => age + later < 60_000).length;
      assert.equal(window.peek('key', 100).remaining, 100 - counted, `${later}`);
    }
  });

  it('keeps keys apart, and forgets those that went quiet', async () => {
    for (let n = 0; n < 100; n += 1) await rates.take(`key ${n}`, 1);
    assert.equal(rates.size, 100);
    assert.equal((await rates.take('another', 1)).isAllowed, true);
    nowMs += 60_000;
    await rates.take('late', 1);
    assert.equal(rates.size, 1);
  });
});
