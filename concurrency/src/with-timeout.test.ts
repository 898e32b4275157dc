import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { finishesWithin, withTimeout } from './with-timeout.ts';

class TooLate extends Error {}
const tooLate = () => new TooLate('too late');
const never = () => new Promise<never>(() => {});

/** A clock whose one sleep ends when the test says so. */
function manualSleep() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const seen: { ms: number; signal: AbortSignal | undefined }[] = [];
  const sleep = (ms: number, signal?: AbortSignal) => {
    seen.push({ ms, signal });
    return promise;
  };
  return { clock: { sleep }, elapse: resolve, seen };
}

describe('withTimeout', () => {
  it('returns the result, or throws the error, of work that ends in time, and ends the wait', async () => {
    const { clock, seen } = manualSleep();
    assert.equal(await withTimeout(Promise.resolve(1), 50, tooLate, clock), 1);
    const failure = new Error('failed');
    await assert.rejects(
      withTimeout(() => Promise.reject(failure), 50, tooLate, clock),
      failure,
    );
    assert.deepEqual(
      seen.map(({ ms, signal }) => [ms, signal?.aborted]),
      [
        [50, true],
        [50, true],
      ],
    );
  });

  it('throws the given error after the time, whatever becomes of the work', async () => {
    const { clock, elapse } = manualSleep();
    const { promise, reject } = Promise.withResolvers<never>();
    const result = withTimeout(promise, 50, tooLate, clock);
    elapse();
    await assert.rejects(result, TooLate);
    // Would be an unhandled rejection.
    reject(new Error('late'));
  });

  it('aborts the signal of the work with that error, and only then', async () => {
    const { clock, elapse } = manualSleep();
    let signal: AbortSignal | undefined;
    const start = (given: AbortSignal) => {
      signal = given;
      return never();
    };
    const result = withTimeout(start, 50, tooLate, clock);
    assert.equal(signal?.aborted, false);
    elapse();
    await assert.rejects(result, TooLate);
    assert.ok(signal?.reason instanceof TooLate);

    const inTime = async (given: AbortSignal) => {
      signal = given;
    };
    await withTimeout(inTime, 50, tooLate);
    assert.equal(signal?.aborted, false);
  });

  it('measures real time unless given a clock', async () => {
    await assert.rejects(withTimeout(never(), 1, tooLate), TooLate);
  });
});

describe('finishesWithin', () => {
  it('says whether the work finished in time, and throws its error', async () => {
    const { clock, elapse, seen } = manualSleep();
    assert.equal(await finishesWithin(Promise.resolve(), 50, clock), true);
    assert.equal(seen[0]?.signal?.aborted, true);
    const failure = new Error('failed');
    await assert.rejects(finishesWithin(Promise.reject(failure), 50, clock), failure);
    const late = finishesWithin(never(), 50, clock);
    elapse();
    assert.equal(await late, false);
  });
});
