import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aboveHeadroom, expiryInstant, noActiveRoute } from './rules.ts';

describe('expiryInstant', () => {
  for (const [seconds, instant] of [
    [1, '1970-01-01T00:00:01.000000+00:00'],
    [253_402_300_799, '9999-12-31T23:59:59.000000+00:00'],
    [253_402_300_800, undefined],
    [1_795_000_000_000, undefined],
    [8_640_000_000_001, undefined],
    [1e300, undefined],
    [-1, undefined],
  ] as const) {
    it(`makes ${instant} of ${seconds}`, () => assert.equal(expiryInstant(seconds), instant));
  }
});

describe('aboveHeadroom', () => {
  it('names what is left, the budget and what the others take', () => {
    assert.equal(
      aboveHeadroom({ budgetMicroPkr: 1_000_000_000n, othersMicroPkr: 600_000_001n }),
      "Credit limit cannot be above 399.999999 PKR: the organisation's budget is 1000.00 PKR, and the limits of its other keys take 600.000001 PKR.",
    );
  });

  it('names nothing as what is left where the others take more than there is', () => {
    assert.match(aboveHeadroom({ budgetMicroPkr: 1n, othersMicroPkr: 2n }), /above 0\.00 PKR: /);
  });
});

describe('noActiveRoute', () => {
  const bodyBytes = (ids: string[]) => Buffer.byteLength(JSON.stringify({ error: noActiveRoute(ids) }));

  it('names one, and several', () => {
    assert.equal(noActiveRoute(['nope']), "allowed_models: no active route has the id 'nope'.");
    assert.equal(noActiveRoute(['a/b', '']), "allowed_models: no active route has the id 'a/b', ''.");
  });

  it('names what fits and counts the rest', () => {
    const ids = Array.from({ length: 256 }, (_, index) => `${index}-`.padEnd(200, 'x'));
    const sentence = noActiveRoute(ids);
    assert.match(sentence, /'0-x+', '1-x+', '2-x+' and 253 more\.$/);
    assert.ok(bodyBytes(ids) <= 1024);
  });

  for (const [what, id] of [
    ['characters that JSON writes in six', '\u0001'.repeat(200)],
    ['characters of three bytes', '\u0905'.repeat(200)],
    ['characters of four bytes', '😀'.repeat(100)],
    ['quotes and backslashes', '"\\'.repeat(100)],
    ['markup', `<img src=x onerror="alert(1)">`.repeat(6)],
  ] as const) {
    it(`keeps the body within 1 KiB for ${what}, and whole characters`, () => {
      assert.ok(bodyBytes([id]) <= 1024);
      assert.ok(bodyBytes(Array(256).fill(id)) <= 1024);
      assert.ok(noActiveRoute([id]).isWellFormed());
      assert.ok(noActiveRoute([id]).includes(id.slice(0, 20)));
    });
  }
});
