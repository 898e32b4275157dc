import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aboveHeadroom, noActiveRoute } from './messages.ts';

describe('aboveHeadroom', () => {
  it('names the headroom, the budget and the other limits', () => {
    assert.equal(
      aboveHeadroom({ budgetMicroPkr: 1_000_000_000n, otherLimitsMicroPkr: 600_000_001n }),
      "Credit limit cannot be above 399.999999 PKR: the organisation's budget is 1000.00 PKR, and the limits of its other keys take 600.000001 PKR.",
    );
  });
});

describe('noActiveRoute', () => {
  const bodyBytes = (ids: string[]) => Buffer.byteLength(JSON.stringify({ error: noActiveRoute(ids) }));

  it('names one route, and several', () => {
    assert.equal(noActiveRoute(['nope']), "allowed_models: no active route has the id 'nope'.");
    assert.equal(noActiveRoute(['a/b', '']), "allowed_models: no active route has the id 'a/b', ''.");
  });

  it('names what fits and counts the rest', () => {
    const ids = Array.from({ length: 256 }, (_, index) => `${index}-`.padEnd(200, 'x'));
    assert.match(noActiveRoute(ids), /'0-x+', '1-x+', '2-x+' and 253 more\.$/);
    assert.ok(bodyBytes(ids) <= 1024);
  });

  for (const [what, id] of [
    ['characters that JSON escapes to six bytes', '\u0001'.repeat(200)],
    ['characters of three bytes', '\u0905'.repeat(200)],
    ['characters of four bytes', '😀'.repeat(100)],
    ['quotes and backslashes', '"\\'.repeat(100)],
    ['markup', `<img src=x onerror="alert(1)">`.repeat(6)],
  ] as const) {
    it(`keeps the body within 1 KiB, and characters whole, for ${what}`, () => {
      assert.ok(bodyBytes([id]) <= 1024);
      assert.ok(bodyBytes(Array(256).fill(id)) <= 1024);
      assert.ok(noActiveRoute([id]).isWellFormed());
      assert.ok(noActiveRoute([id]).includes(id.slice(0, 20)));
    });
  }
});
