import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { analyticsQuery, searchRange, validateAnalytics, withRange } from './analytics-search.ts';

const key = '996d46ce-0c7a-43ff-9a13-ef995ee0736f';

describe('the window and filters in a URL', () => {
  it('keeps what is valid and drops the rest', () => {
    const search = { range: '7d', key, project: 'x', model: 'openai/gpt-5-mini', other: '1' };
    assert.deepEqual(validateAnalytics(search), { range: '7d', key, model: 'openai/gpt-5-mini' });
    assert.deepEqual(validateAnalytics({ range: 'soon', key: ['a'], model: 'x'.repeat(500) }), {});
  });

  it('becomes the query of the API', () => {
    const expected = { time_range: '7d', key_id: key, model_alias: 'm' };
    assert.deepEqual(analyticsQuery({ range: '7d', key, model: 'm' }), expected);
    assert.deepEqual(analyticsQuery({}), { time_range: '24h' });
  });

  it('changes the window as a whole', () => {
    const fixed = {
      kind: 'fixed',
      from: '2026-11-20T00:00:00.000Z',
      to: '2026-11-21T00:00:00.000Z',
    } as const;
    const next = withRange({ range: '7d', model: 'm' }, fixed);
    assert.deepEqual(searchRange(next), fixed);
    assert.equal(next.range, undefined);
    assert.equal(next.model, 'm');
  });
});
