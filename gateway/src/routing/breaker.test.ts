import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Breaker } from './breaker.ts';
import type { Failure } from './retry.ts';

const status = (code: number, retryAfterMs?: number): Failure => ({
  kind: 'error_status',
  status: code,
  retryAfterMs,
});
const BROKEN: Failure = { kind: 'broken' };
const REFUSED: Failure = { kind: 'unreachable' };

/** A breaker that failed like this at 0 ms. */
function failed(...failures: readonly Failure[]): Breaker {
  const breaker = new Breaker();
  for (const failure of failures) breaker.fail(failure, 0, 0);
  return breaker;
}

describe('a breaker opens', () => {
  it('after five failures in a row', () => {
    const breaker = failed(BROKEN, status(500), { kind: 'timed_out' }, status(529));
    assert.equal(breaker.take(0), 'closed');
    assert.equal(breaker.fail({ kind: 'error_event' }, 0, 0), 'opened');
    assert.equal(breaker.take(999), undefined);
    assert.deepEqual(breaker.opening, {
      untilMs: 1_000,
      isStated: false,
      reason: 'stream began with an error',
    });
  });

  it('not after four, a success and four', () => {
    const breaker = failed(BROKEN, BROKEN, BROKEN, BROKEN);
    for (let n = 0; n < 9; n += 1) breaker.succeed(0, 0);
    for (let n = 0; n < 4; n += 1) assert.equal(breaker.fail(BROKEN, 0, 0), undefined);
    assert.equal(breaker.opening, undefined);
  });

  it('when half of what came within thirty seconds failed, of ten at least', () => {
    const breaker = failed(BROKEN);
    for (let n = 1; n < 5; n += 1) {
      breaker.succeed(n, n);
      assert.equal(breaker.fail(BROKEN, n, n), undefined, `${n}`);
    }
    breaker.succeed(5, 5);
    breaker.succeed(6, 6);
    assert.equal(breaker.fail(BROKEN, 7, 7), 'opened');
  });

  it('not when they are spread over a longer time', () => {
    const breaker = new Breaker();
    for (let n = 0; n < 100; n += 1) {
      breaker.succeed(n * 10_000, n * 10_000);
      assert.equal(breaker.fail(BROKEN, n * 10_000, n * 10_000), undefined, `${n}`);
    }
  });

  it('at once where the next request would fail too', () => {
    for (const failure of [REFUSED, status(429), status(401), status(403)])
      assert.ok(failed(failure).opening, JSON.stringify(failure));
    for (const failure of [status(500), status(503), BROKEN])
      assert.equal(failed(failure).opening, undefined, JSON.stringify(failure));
  });

  it('for five minutes on a rejected credential, and for as long as the provider says', () => {
    assert.equal(failed(status(401)).opening?.untilMs, 300_000);
    assert.deepEqual(failed(status(503, 7_000)).opening, {
      untilMs: 7_000,
      isStated: true,
      reason: 'answered 503',
    });
    assert.equal(failed(status(429, 0)).opening?.untilMs, 1_000);
  });

  it('for longer when the provider says so meanwhile, which is no news', () => {
    const breaker = failed(status(429, 7_000));
    assert.equal(breaker.fail(status(429, 9_000), 0, 1_000), undefined);
    assert.equal(breaker.opening?.untilMs, 10_000);
    assert.equal(breaker.fail(status(429, 2_000), 0, 2_000), undefined);
    assert.equal(breaker.opening?.untilMs, 10_000);
  });
});

describe('an open breaker', () => {
  it('lets one request at a time through when its time is over', () => {
    const breaker = failed(REFUSED);
    assert.equal(breaker.take(1_000), 'probe');
    assert.equal(breaker.take(1_000), undefined);
    assert.equal(breaker.readyAtMs(), Number.POSITIVE_INFINITY);
    breaker.endProbe();
    assert.equal(breaker.readyAtMs(), 1_000);
    assert.equal(breaker.take(1_000), 'probe');
  });

  it('closes when that succeeds, and has forgotten what was before', () => {
    const breaker = failed(REFUSED);
    breaker.take(1_000);
    assert.equal(breaker.succeed(1_000, 1_200), 'closed');
    breaker.endProbe();
    assert.equal(breaker.take(1_200), 'closed');
    assert.ok(breaker.isForgettable(1_200));
    breaker.fail(REFUSED, 1_300, 1_300);
    assert.equal(breaker.opening?.untilMs, 2_300);
  });

  it('opens again for twice as long when it fails, up to a minute', () => {
    const breaker = failed(REFUSED);
    let nowMs = 0;
    const waits: number[] = [];
    for (let n = 0; n < 9; n += 1) {
      const untilMs = breaker.opening?.untilMs ?? assert.fail();
      waits.push(untilMs - nowMs);
      nowMs = untilMs;
      assert.equal(breaker.take(nowMs), 'probe');
      assert.equal(breaker.fail(BROKEN, nowMs, nowMs), 'opened');
      breaker.endProbe();
    }
    assert.deepEqual(waits, [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  });

  it('is not moved by requests that were under way when it opened', () => {
    const breaker = new Breaker();
    breaker.fail(REFUSED, 500, 500);
    assert.equal(breaker.succeed(400, 600), undefined);
    assert.equal(breaker.fail(BROKEN, 400, 1_600), undefined);
    assert.equal(breaker.opening?.untilMs, 1_500);
  });

  it('closes when a request that had no other choice succeeds', () => {
    const breaker = failed(REFUSED);
    assert.equal(breaker.fail(REFUSED, 10, 20), undefined);
    assert.equal(breaker.opening?.untilMs, 1_000);
    assert.equal(breaker.succeed(10, 20), 'closed');
  });
});
