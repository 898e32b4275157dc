import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { start, statuses, turn, Unavailable } from './fair-batcher.fixture.ts';

describe('a batch of a fair batcher that fails', () => {
  it('divides a batch that failed by tenant: each goes alone, in its order, and with the others again once it is quick', async () => {
    const { submit, asked, sent, fail, next, advance, batcher } = start();
    const all = submit('a1', 'b1', 'a2');
    await turn();
    all.push(...submit('a3', 'c1'));
    await fail(0, new Error('a row is locked'));
    // The two that failed wait for the lane of those that go alone; the third has the shared one.
    assert.deepEqual(asked(), ['a1 b1 a2', 'a1 a2 a3', 'c1']);
    assert.deepEqual(
      sent.map(({ isShared }) => isShared),
      [true, false, true],
    );
    await advance(51);
    await next(1);
    assert.deepEqual(asked().slice(3), ['b1']);
    await next(2);
    await next(3);
    assert.deepEqual(await statuses(all), ['a1', 'b1', 'a2', 'a3', 'c1']);
    submit('a4', 'b2', 'c2');
    await turn();
    // a was slow, so it goes alone for a second.
    assert.deepEqual(asked().slice(4), ['a4', 'b2 c2']);
    await next(4);
    await next(5);
    submit('a5', 'b3');
    await turn();
    assert.deepEqual(asked().slice(6), ['a5 b3']);
    await next(6);
    assert.equal(batcher.tenants(), 0);
  });

  it('goes back to shared batches after the time alone', async () => {
    const { submit, asked, fail, advance } = start({ aloneMs: 1_000 });
    submit('a1');
    await turn();
    await fail(0, new Error('locked'));
    await fail(1, new Unavailable('still locked'));
    assert.deepEqual(asked(), ['a1', 'a1']);
    await advance(1_000);
    submit('a2', 'b1');
    await turn();
    assert.deepEqual(asked()[2], 'a2 b1');
  });

  it('rejects only the item that fails by itself', async () => {
    const { submit, asked, fail, next, batcher } = start();
    const all = submit('a1', 'a2', 'a3');
    await turn();
    await fail(0, new RangeError('one of them'));
    await fail(1, new RangeError('one of them'));
    await next(2);
    await fail(3, new RangeError('this one'));
    await next(4);
    assert.deepEqual(asked(), ['a1 a2 a3', 'a1 a2 a3', 'a1', 'a2', 'a3']);
    assert.deepEqual(await statuses(all), ['a1', 'RangeError', 'a3']);
    assert.equal(batcher.tenants(), 1, 'it goes alone for a while');
  });

  it('rejects all that wait when sending is no use, and of a tenant that is alone only its own', async () => {
    const { submit, fail, next, asked } = start();
    const first = submit('a1', 'b1');
    await turn();
    first.push(...submit('c1'));
    await fail(0, new Unavailable('down'));
    assert.deepEqual(await statuses(first), ['Unavailable', 'Unavailable', 'Unavailable']);
    const second = submit('a2', 'b2');
    await turn();
    await fail(1, new Error('locked'));
    const others = submit('a3', 'b3', 'c2');
    await turn();
    await fail(2, new Unavailable('locked'));
    assert.deepEqual(asked().slice(2), ['a2', 'c2', 'b2 b3']);
    await next(3);
    await next(4);
    assert.deepEqual(await statuses([...second, ...others]), [
      'Unavailable',
      'b2',
      'Unavailable',
      'b3',
      'c2',
    ]);
  });
});
