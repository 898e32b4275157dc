import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseSearch, rangeOf, safeReturn, stringifySearch } from './search.ts';

describe('the parameters of a URL', () => {
  it('are plain texts, and survive both ways', () => {
    const search = { range: '7d', model: 'openai/gpt-5-mini', search: 'a&b=c "d" ünïcode' };
    const text = stringifySearch(search);
    assert.equal(text.slice(0, 35), '?range=7d&model=openai/gpt-5-mini&s');
    assert.deepEqual(parseSearch(text), search);
  });

  it('leaves out what is empty', () => {
    assert.equal(stringifySearch({ a: undefined, b: '', c: null, d: false }), '');
    assert.deepEqual(parseSearch('?a=&b=1&b=2&__proto__=x'), { b: '1' });
  });

  it('keeps the range for the next page, and nothing else', () => {
    assert.deepEqual(rangeOf({ range: '7d', model: 'x' }), { range: '7d' });
    assert.deepEqual(rangeOf({ range: 'x' }), {});
  });
});

describe('the way back after sign-in', () => {
  it('stays on this site', () => {
    assert.equal(safeReturn('/requests?range=7d#x'), '/requests?range=7d#x');
    const hostile = [
      '//evil.example',
      '/\\evil.example',
      'https://evil.example',
      'javascript:alert(1)',
      '/a\nb',
      7,
      undefined,
    ];
    for (const path of [...hostile, '/sign-in?return=/sign-in', '/register'])
      assert.equal(safeReturn(path), '/');
  });
});
