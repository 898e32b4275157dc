import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { timingParts } from './timing.ts';

const ms = (total: number, first: number | null, before: number) =>
  timingParts({ total_ms: total, ttft_ms: first, pre_dispatch_ms: before }).map((part) => part.ms);

describe('the timing of a request', () => {
  it('of a stream: before dispatch, first token, generation', () => {
    assert.deepEqual(ms(1000, 300, 20), [20, 280, 700]);
  });

  it('of a whole answer: before dispatch, and at the provider', () => {
    assert.deepEqual(ms(1000, null, 20), [20, 980]);
  });

  it('adds up to the whole and is never negative, whatever is reported', () => {
    for (const [total, first, before] of [
      [0, 0, 0],
      [10, 50, 5],
      [10, 2, 5],
      [10, null, 50],
      [10, 5, -3],
    ] as const) {
      const parts = ms(total, first, before);
      assert.ok(parts.every((part) => part >= 0));
      assert.equal(
        parts.reduce((sum, part) => sum + part, 0),
        total,
      );
    }
  });
});
