import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Failure, isWorthAnother, readRetryAfter } from './retry.ts';

const PLATFORM = { isByok: false, mayFallBack: false };
const OWN = { isByok: true, mayFallBack: false };
const OWN_THEN_PLATFORM = { isByok: true, mayFallBack: true };
const status = (code: number): Failure => ({ kind: 'error_status', status: code, retryAfterMs: undefined });

describe('what another attempt may follow', () => {
  it('a failure without a status', () => {
    for (const kind of ['unreachable', 'timed_out', 'broken', 'error_event'] as const) {
      assert.equal(isWorthAnother({ kind }, PLATFORM), true, kind);
      assert.equal(isWorthAnother({ kind }, OWN), true, kind);
    }
  });

  it('a status that another upstream may not have', () => {
    for (const code of [408, 409, 425, 429, 498, 500, 502, 503, 504, 529, 599]) {
      assert.equal(isWorthAnother(status(code), PLATFORM), true, `${code}`);
      assert.equal(isWorthAnother(status(code), OWN), true, `${code}`);
    }
  });

  it('no status that is about the request', () => {
    for (const code of [400, 404, 405, 410, 413, 415, 422, 424, 451])
      assert.equal(isWorthAnother(status(code), PLATFORM), false, `${code}`);
  });

  it("a rejected platform credential; the organisation's own only where it may fall back", () => {
    for (const code of [401, 402, 403]) {
      assert.equal(isWorthAnother(status(code), PLATFORM), true, `${code}`);
      assert.equal(isWorthAnother(status(code), OWN), false, `${code}`);
      assert.equal(isWorthAnother(status(code), OWN_THEN_PLATFORM), true, `${code}`);
    }
  });
});

describe('Retry-After', () => {
  const now = Date.UTC(2026, 10, 22, 12, 0, 0);
  const read = (value: string | string[] | undefined) => readRetryAfter({ 'retry-after': value }, now);

  it('is read in seconds, in milliseconds and as a date', () => {
    assert.equal(read('7'), 7_000);
    assert.equal(read(' 0.5 '), 500);
    assert.equal(read('0'), 0);
    assert.equal(read('Sun, 22 Nov 2026 12:00:20 GMT'), 20_000);
    assert.equal(readRetryAfter({ 'retry-after-ms': '250', 'retry-after': '7' }, now), 250);
    assert.equal(readRetryAfter({ 'retry-after-ms': 'soon', 'retry-after': '7' }, now), 7_000);
  });

  it('is five minutes at most, and never negative', () => {
    assert.equal(read('301'), 300_000);
    assert.equal(read('999999999999999'), 300_000);
    assert.equal(read('Sun, 22 Nov 2037 12:00:00 GMT'), 300_000);
    assert.equal(read('Sun, 22 Nov 2026 11:00:00 GMT'), 0);
  });

  it('is ignored where it is none', () => {
    for (const value of [
      ...[undefined, '', ' ', '-1', '1e9', 'NaN', 'Infinity', '0x10', '9'.repeat(16), '9'.repeat(100_000)],
      ...['1 2', '١', 'tomorrow', 'Xyz, 99 Abc 2026 99:99:99 GMT', '2026-11-22T12:00:20Z', ['7', '9']],
    ])
      assert.equal(read(value as string | undefined), undefined, String(value).slice(0, 40));
  });
});
