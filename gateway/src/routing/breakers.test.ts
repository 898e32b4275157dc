import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Breakers, type UpstreamChange, type UpstreamName } from './breakers.ts';
import type { Failure } from './retry.ts';

const REFUSED: Failure = { kind: 'unreachable' };
const A: UpstreamName = { provider: 'p', upstreamModel: 'm', credential: 'a', owner: null };

function start(mostUpstreams?: number) {
  let nowMs = 0;
  const changes: UpstreamChange[] = [];
  const breakers = new Breakers({
    nowMs: () => nowMs,
    onChange: (change) => changes.push(change),
    ...(mostUpstreams !== undefined && { mostUpstreams }),
  });
  return {
    breakers,
    changes,
    at(ms: number) {
      nowMs = ms;
    },
  };
}

describe('breakers', () => {
  it('are one for each provider, model, credential and owner', () => {
    const { breakers } = start();
    breakers.take(A)?.fail(REFUSED);
    assert.equal(breakers.take(A), undefined);
    for (const other of [
      { provider: 'q' },
      { upstreamModel: 'n' },
      { credential: 'b' },
      { owner: 'organization 1' },
    ])
      assert.ok(breakers.take({ ...A, ...other }), JSON.stringify(other));
  });

  it('take no memory for upstreams that work', () => {
    const { breakers } = start();
    for (let n = 0; n < 100; n += 1) breakers.take({ ...A, upstreamModel: `${n}` })?.succeed();
    assert.equal(breakers.size, 0);
  });

  it('are forgotten once they work again', () => {
    const { breakers, at, changes } = start();
    breakers.take(A)?.fail(REFUSED);
    at(1_000);
    breakers.take(A)?.succeed();
    assert.equal(breakers.size, 0);
    assert.deepEqual(
      changes.map(({ opening }) => opening?.reason),
      ['could not be reached', undefined],
    );
  });

  it('are bounded in number', () => {
    const { breakers } = start(100);
    for (let n = 0; n < 1_000; n += 1) breakers.take({ ...A, owner: `${n}` })?.fail(REFUSED);
    assert.equal(breakers.size, 100);
    assert.equal(breakers.take({ ...A, owner: '999' }), undefined);
  });

  it('take the first outcome of a use alone', () => {
    const { breakers, changes } = start();
    const use = breakers.take(A) ?? assert.fail();
    use.succeed();
    use.fail(REFUSED);
    use.release();
    assert.deepEqual(changes, []);
  });

  it('let another try when the one that tried learned nothing', () => {
    const { breakers, at } = start();
    breakers.take(A)?.fail(REFUSED);
    at(1_000);
    const probe = breakers.take(A) ?? assert.fail();
    assert.equal(breakers.take(A), undefined);
    assert.equal(breakers.readyAtMs(A), Number.POSITIVE_INFINITY);
    let calls = 0;
    const stop = breakers.watch(() => {
      calls += 1;
    });
    probe.release();
    assert.equal(calls, 1);
    stop();
    assert.ok(breakers.take(A));
  });

  it('can be passed for want of another, without taking the place of the one that tries', () => {
    const { breakers, at } = start();
    breakers.take(A)?.fail(REFUSED);
    breakers.takeAnyway(A).release();
    assert.equal(breakers.readyAtMs(A), 1_000);
    at(1_000);
    assert.ok(breakers.take(A));
    breakers.takeAnyway(A).release();
    assert.equal(breakers.take(A), undefined);
  });

  it('list those that are not closed', () => {
    const { breakers, at } = start();
    breakers.take(A)?.fail(REFUSED);
    breakers.take({ ...A, credential: 'b' })?.fail({ kind: 'broken' });
    at(5_000);
    assert.deepEqual(breakers.list(), [
      { name: A, opening: { untilMs: 1_000, isStated: false, reason: 'could not be reached' } },
    ]);
  });
});
