import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LinkedQueue } from './linked-queue.ts';

describe('LinkedQueue', () => {
  for (const order of [
    [0, 1, 2, 3],
    [3, 2, 1, 0],
    [1, 2, 0, 3],
    [2, 0, 3, 1],
  ]) {
    it(`keeps the order of the others when ${order.join(', ')} are removed`, () => {
      const queue = new LinkedQueue<number>();
      const entries = [0, 1, 2, 3].map((item) => queue.add(item));
      const expected = [0, 1, 2, 3];
      for (const removed of order) {
        assert.equal(queue.remove(entries[removed] as (typeof entries)[number]), true);
        expected.splice(expected.indexOf(removed), 1);
        assert.deepEqual([...queue], expected);
        assert.deepEqual(
          [queue.first, queue.last, queue.size],
          [expected[0], expected.at(-1), expected.length],
        );
      }
    });
  }

  it('says when an entry was removed before', () => {
    const queue = new LinkedQueue<string>();
    const entry = queue.add('a');
    queue.add('b');
    assert.deepEqual([queue.remove(entry), queue.remove(entry), queue.size], [true, false, 1]);
  });

  it('goes on when the item at hand is removed', () => {
    const queue = new LinkedQueue<number>();
    const entries = new Map([1, 2, 3].map((item) => [item, queue.add(item)]));
    const seen: number[] = [];
    for (const item of queue) {
      seen.push(item);
      const entry = entries.get(item);
      if (entry) queue.remove(entry);
    }
    assert.deepEqual([seen, queue.size], [[1, 2, 3], 0]);
  });
});
