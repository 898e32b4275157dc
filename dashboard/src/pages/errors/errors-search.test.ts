import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { requestsSearch, validateErrors } from './errors-search.ts';

const KEY = '0199a000-1111-7222-8333-444444444444';

describe('the URL of the errors', () => {
  it('keeps what is valid, and leaves no trace of the default', () => {
    assert.deepEqual(validateErrors({ range: '7d', by: 'key', group: KEY, unknown: 'true' }), {
      range: '7d',
      by: 'key',
      group: KEY,
    });
    assert.deepEqual(validateErrors({ by: 'error_code', group: 'credit_held' }), { group: 'credit_held' });
    assert.deepEqual(validateErrors({ by: 'model', unknown: 'true' }), { by: 'model', unknown: true });
  });

  for (const wrong of [
    { by: 'constructor' },
    { group: 'any' },
    { group: 'x'.repeat(301) },
    { group: '' },
    { unknown: 'maybe' },
  ])
    it(`drops ${JSON.stringify(wrong).slice(0, 50)}`, () => assert.deepEqual(validateErrors(wrong), {}));

  for (const wrong of [
    { by: 'status', group: '4xx' },
    { by: 'status', group: '999' },
    { by: 'key', group: 'any' },
  ])
    it(`drops the group of ${JSON.stringify(wrong)}`, () =>
      assert.deepEqual(validateErrors(wrong), { by: wrong.by }));
});

describe('the errors of a group in the request log', () => {
  it('keep the window and the filters of the page', () => {
    const search = { range: '7d', project: KEY, model: 'a', by: 'error_code', group: 'b' };
    assert.deepEqual(requestsSearch(search, 'error_code', 'upstream_429'), {
      range: '7d',
      project: KEY,
      model: 'a',
      error: 'upstream_429',
    });
    assert.deepEqual(requestsSearch({}, 'key', KEY), { error: 'any', key: KEY });
    assert.deepEqual(requestsSearch({ model: 'a' }, 'model', 'b'), { error: 'any', model: 'b' });
  });

  it('are those of the class of a status', () => {
    assert.deepEqual(requestsSearch({}, 'status', '429'), { error: 'any', status: '4xx' });
  });
});
