import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type BackoffOptions, createBackoff } from './backoff.ts';

const TABLE: readonly (readonly [string, BackoffOptions, readonly number[]])[] = [
  ['doubles up to the maximum', { firstMs: 100, maxMs: 500 }, [100, 200, 400, 500, 500]],
  [
    'starts after the immediate retries',
    { firstMs: 100, maxMs: 300, immediateRetries: 1 },
    [0, 100, 200, 300],
  ],
  ['is never above the maximum', { firstMs: 100, maxMs: 50 }, [50, 50]],
  ['is random in its jitter', { firstMs: 100, maxMs: 800, jitter: 0.5, random: () => 0.5 }, [75, 150, 300]],
  ['is at its shortest without luck', { firstMs: 100, maxMs: 800, jitter: 0.5, random: () => 0 }, [50, 100]],
];

describe('a backoff', () => {
  for (const [title, options, expected] of TABLE) {
    it(title, () => {
      const backoff = createBackoff(options);
      const waits = () => expected.map(() => backoff.nextMs());
      assert.deepEqual(waits(), expected);
      assert.equal(backoff.failures, expected.length);
      backoff.reset();
      assert.deepEqual(waits(), expected);
    });
  }

  it('stays at the maximum however often it fails', () => {
    const backoff = createBackoff({ firstMs: 1, maxMs: 1_000 });
    for (let count = 0; count < 5_000; count += 1) backoff.nextMs();
    assert.equal(backoff.nextMs(), 1_000);
  });
});
