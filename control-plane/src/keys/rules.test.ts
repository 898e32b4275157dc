import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Refusal } from '@gatehouse/contract';
import { noActiveRoute, readIdempotencyKey } from './rules.ts';

describe('readIdempotencyKey', () => {
  it('takes 1 to 255 characters of printable ASCII, and none at all', () => {
    for (const key of [undefined, 'a', ' ~', 'x'.repeat(255), '"quoted", twice']) {
      assert.equal(readIdempotencyKey(key), key);
    }
  });

  for (const key of ['', 'x'.repeat(256), 'tab\there', 'caf\u00e9', 'line\nend', 'end\n', '\u007f']) {
    it(`refuses ${JSON.stringify(key.slice(0, 10))} of ${key.length} characters`, () => {
      assert.throws(
        () => readIdempotencyKey(key),
        (error) => error instanceof Refusal && error.status === 400 && 'detail' in error.body,
      );
    });
  }
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
