import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Breakers, type UpstreamChange, type UsedUpstream } from './breakers.ts';
import type { Failure } from './retry.ts';

const REFUSED: Failure = { kind: 'unreachable' };
const LIMITED: Failure = { kind: 'error_status', status: 429, retryAfterMs: 120_000 };
const A: UsedUpstream = {
  provider: 'p',
  upstreamModel: 'm',
  surface: 'chat',
  credential: 'a',
  owner: null,
  organizationId: 'one',
};

function start(maxUpstreams?: number) {
  let nowMs = 0;
  const changes: UpstreamChange[] = [];
  const breakers = new Breakers({
    nowMs: () => nowMs,
    onChange: (change) => changes.push(change),
    ...(maxUpstreams !== undefined && { maxUpstreams }),
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
  it('are one for each provider, model, surface, credential and owner', () => {
    const { breakers } = start();
    breakers.take(A)?.fail(REFUSED);
    assert.equal(breakers.take(A), undefined);
    for (const other of [
      { provider: 'q' },
      { upstreamModel: 'n' },
      { surface: 'embeddings' },
      { credential: 'b' },
      { owner: 'organization 1' },
    ] as const)
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
      changes.map(({ organizationId, opening }) => [organizationId, opening?.reason]),
      [
        ['one', 'could not be reached'],
        [null, 'could not be reached'],
        ['one', undefined],
        [null, undefined],
      ],
    );
  });

  it('are bounded in number', () => {
    const { breakers } = start(100);
    for (let n = 0; n < 1_000; n += 1)
      breakers.take({ ...A, upstreamModel: `${n}`, organizationId: `${n}` })?.fail(REFUSED);
    assert.equal(breakers.size, 200);
    assert.equal(breakers.take({ ...A, upstreamModel: '999', organizationId: '999' }), undefined);
    for (let n = 0; n < 1_000; n += 1)
      breakers.take({ ...A, owner: `one ${n}`, credential: 'own' })?.fail(REFUSED);
    assert.equal(breakers.size, 200);
  });

  it('are of one organisation alone for what its requests may have caused', () => {
    const { breakers, changes } = start();
    const other = { ...A, organizationId: 'another' };
    breakers.take(A)?.fail(LIMITED);
    assert.equal(breakers.take(A), undefined);
    assert.equal(breakers.openingOf(other), undefined);
    assert.equal(breakers.readyAtMs(other), 0);
    breakers.take(other)?.fail(LIMITED);
    assert.ok(breakers.openingOf({ ...A, organizationId: 'a third' })?.isStated);
    assert.deepEqual(
      changes.map(({ organizationId }) => organizationId),
      ['one', 'another', null],
    );
  });

  it('do not close for another organisation that met failures itself', () => {
    const { breakers, at } = start();
    const other = { ...A, organizationId: 'another' };
    for (const name of [A, other]) breakers.take(name)?.fail(LIMITED);
    at(10);
    breakers.takeAnyway(other).succeed();
    assert.ok(breakers.take({ ...A, organizationId: 'a third' }));
    assert.equal(breakers.take(A), undefined);
  });

  it("are an organisation's alone for its own credential, which operators do not see", () => {
    const { breakers } = start();
    for (const owner of ['one 1', 'another 1'])
      breakers.take({ ...A, owner, organizationId: 'one' })?.fail(REFUSED);
    assert.deepEqual(breakers.list(), []);
    assert.equal(breakers.size, 2);
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

  it('list those that are not closed, for all and for some', () => {
    const { breakers, at } = start();
    breakers.take(A)?.fail(REFUSED);
    breakers.take({ ...A, credential: 'b' })?.fail({ kind: 'broken' });
    breakers.take({ ...A, credential: 'c' })?.fail(LIMITED);
    at(5_000);
    const refused = { untilMs: 1_000, isStated: false, reason: 'could not be reached' };
    const limited = { untilMs: 120_000, isStated: true, reason: 'answered 429' };
    assert.deepEqual(
      breakers.list().map(({ name: { credential }, forAll, forSome }) => [credential, forAll, forSome]),
      [
        ['a', refused, { opening: refused, organizations: 1 }],
        ['c', undefined, { opening: limited, organizations: 1 }],
      ],
    );
  });
});
