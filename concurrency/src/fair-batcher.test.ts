import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { start, statuses, turn } from './fair-batcher.fixture.ts';
import { QueueTimeout } from './fair-batcher.ts';
import { QueueFull } from './fair-scheduler.ts';

describe('a fair batcher', () => {
  it('sends what one turn of the event loop brings together, and what comes meanwhile in the next batch', async () => {
    const { submit, asked, next, batcher } = start();
    const all = submit('a1', 'b1');
    await turn();
    all.push(...submit('c1', 'a2'));
    await turn();
    assert.deepEqual(asked(), ['a1 b1']);
    await next(0);
    assert.deepEqual(asked(), ['a1 b1', 'a2 c1']);
    await next(1);
    assert.deepEqual(await statuses(all), ['a1', 'b1', 'c1', 'a2']);
    assert.equal(batcher.tenants(), 0);
  });

  it('takes one item of each tenant in turn, so that a hundred of one delay another by one batch', async () => {
    const { submit, asked, next } = start();
    submit(...Array.from({ length: 100 }, (_, n) => `a${n + 1}`));
    await turn();
    submit('b1', 'c1', 'b2');
    await next(0);
    await next(1);
    assert.deepEqual(asked(), ['a1 a2 a3 a4', 'a5 b1 c1 a6', 'a7 b2 a8 a9']);
  });

  it('serves more tenants than a batch holds in turn', async () => {
    const { submit, asked, next } = start({ mostPerBatch: 2 });
    submit('a1', 'a2', 'b1', 'c1', 'b2', 'd1');
    for (let count = 0; count < 3; count += 1) {
      await turn();
      await next(count);
    }
    assert.deepEqual(asked(), ['a1 b1', 'c1 d1', 'a2 b2']);
  });

  it('has one batch of a tenant in flight, and as many of all as it may', async () => {
    const { submit, asked, next } = start({ batches: 2 });
    submit('a1');
    await turn();
    submit('a2', 'b1');
    await turn();
    submit('c1');
    await turn();
    assert.deepEqual(asked(), ['a1', 'b1']);
    await next(0);
    assert.deepEqual(asked(), ['a1', 'b1', 'a2 c1']);
  });

  it('sends a batch beside another only after the spacing', async () => {
    const { submit, asked, advance, next } = start({ batches: 2, spacingMs: 5 });
    submit('a1');
    await turn();
    submit('b1');
    await advance(4);
    assert.deepEqual(asked(), ['a1']);
    submit('c1');
    await advance(1);
    assert.deepEqual(asked(), ['a1', 'b1 c1']);
    submit('d1');
    await advance(5);
    assert.equal(asked().length, 2);
    await next(1);
    assert.deepEqual(asked()[2], 'd1');
  });

  it('rejects what comes to a full queue, of a tenant or of all, and forgets it', async () => {
    const { submit, batcher, next } = start({ queuePerTenant: 2, queueTotal: 4 });
    submit('x1');
    await turn();
    const queued = submit('a1', 'a2', 'a3', 'b1', 'c1', 'd1', 'e1');
    assert.equal(batcher.tenants(), 4);
    const full = [queued[2], queued[5], queued[6]].map(async (one) =>
      assert.rejects(one?.answer ?? Promise.resolve(), QueueFull),
    );
    await Promise.all(full);
    await next(0);
    await next(1);
    assert.deepEqual(await statuses([0, 1, 3, 4].map((n) => queued[n] as never)), ['a1', 'a2', 'b1', 'c1']);
    assert.equal(batcher.tenants(), 0);
  });

  it('rejects what was not sent in time, each by its own time', async () => {
    const { submit, advance, asked, next } = start({ timeoutMs: 100 });
    const first = submit('a1');
    await turn();
    const early = submit('b1');
    await advance(60);
    const late = submit('c1');
    await advance(40);
    await assert.rejects(early[0]?.answer ?? Promise.resolve(), QueueTimeout);
    await next(0);
    assert.deepEqual(asked(), ['a1', 'c1']);
    await advance(1_000);
    await next(1);
    assert.deepEqual(await statuses([...first, ...late]), ['a1', 'c1']);
  });

  it('forgets an item that is cancelled while it waits, and answers one that was sent', async () => {
    const { submit, asked, next, batcher } = start();
    const [sent] = submit('a1');
    await turn();
    const [gone] = submit('b1');
    submit('c1');
    for (const one of [sent, gone]) one?.cancel(new RangeError('left'));
    await assert.rejects(gone?.answer ?? Promise.resolve(), RangeError);
    await next(0);
    assert.equal(await sent?.answer, 'a1');
    assert.deepEqual(asked(), ['a1', 'c1']);
    await next(1);
    assert.equal(batcher.tenants(), 0);
  });

  it('lets what can wait ride in the next batch, before what comes later, or sends it after the delay', async () => {
    const { batcher, submit, asked, next, advance } = start();
    const first = batcher.submit('a', 'a-', 'can_wait');
    await turn();
    submit('b1', 'a1');
    await turn();
    assert.deepEqual(asked(), ['a- b1 a1']);
    await next(0);
    assert.equal(await first.answer, 'a-');
    void batcher.submit('a', 'a=', 'can_wait');
    await turn();
    await advance(4);
    assert.equal(asked().length, 1);
    await advance(1);
    assert.deepEqual(asked(), ['a- b1 a1', 'a=']);
    await next(1);
    assert.equal(batcher.tenants(), 0);
  });

  it('takes what can wait though the queue is full', async () => {
    const { batcher, submit, asked, next } = start({ queuePerTenant: 1 });
    submit('x1');
    await turn();
    submit('a1');
    const queued = batcher.submit('a', 'a-', 'can_wait');
    await next(0);
    assert.deepEqual(asked(), ['x1', 'a1 a-']);
    await next(1);
    assert.equal(await queued.answer, 'a-');
  });

  it('drains: sends what could wait, and resolves once everything is answered', async () => {
    const { batcher, submit, asked, next } = start();
    submit('a1');
    await turn();
    void batcher.submit('b', 'b-', 'can_wait');
    let isDrained = false;
    const drained = batcher.drain().then(() => {
      isDrained = true;
    });
    await next(0);
    assert.deepEqual([asked(), isDrained], [['a1', 'b-'], false]);
    await next(1);
    await drained;
    await batcher.drain();
  });

  it('serves fifty thousand tenants in as many batches as they fill', async () => {
    const { batcher, sent } = start({ queueTotal: 100_000, mostPerBatch: 128 });
    for (let n = 0; n < 50_000; n += 1) void batcher.submit(`tenant ${n}`, `${n}`);
    for (let batches = 0; batches < 391; batches += 1) {
      await turn();
      sent[batches]?.answer();
    }
    await turn();
    assert.deepEqual([sent.length, batcher.tenants()], [391, 0]);
  });
});
