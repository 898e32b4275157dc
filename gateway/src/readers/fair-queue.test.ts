import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FairQueue } from './fair-queue.ts';

describe('fair queue', () => {
  it('takes turns among owners, however much one of them queues', () => {
    const queue = new FairQueue<string>(10);
    for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) queue.add(item.charAt(0), item);
    const order = Array.from({ length: 6 }, () => {
      const item = queue.next() ?? '';
      queue.done(item.charAt(0));
      return item;
    });
    assert.deepEqual(order, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
    assert.equal(queue.next(), undefined);
  });

  it('prefers the owner with the least in progress', () => {
    const queue = new FairQueue<string>(10);
    for (const item of ['a1', 'a2', 'a3']) queue.add('a', item);
    assert.deepEqual([queue.next(), queue.next()], ['a1', 'a2']);
    queue.add('b', 'b1');
    queue.done('a');
    assert.equal(queue.next(), 'b1');
    assert.equal(queue.next(), 'a3');
  });

  it('holds no more of an owner than it is told, and forgets what is removed', () => {
    const queue = new FairQueue<string>(2);
    assert.deepEqual(
      ['a1', 'a2', 'a3'].map((item) => queue.add('a', item)),
      [true, true, false],
    );
    assert.ok(queue.add('b', 'b1'));
    assert.ok(queue.remove('a', 'a1'));
    assert.ok(!queue.remove('a', 'a1'));
    assert.ok(queue.add('a', 'a4'));
    assert.deepEqual([queue.next(), queue.next(), queue.next()], ['a2', 'b1', 'a4']);
    assert.ok(!queue.remove('a', 'a4'));
  });
});
