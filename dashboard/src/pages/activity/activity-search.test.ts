import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { validateActivity } from './activity-search.ts';

describe('the URL of the activity log', () => {
  it('keeps what is valid', () => {
    const search = { action: 'api_key.revoked', actor: 'ada@example.com' };
    assert.deepEqual(validateActivity(search), search);
    const later = { offset: '50', until: '2026-11-22T19:00:00.123456+00:00' };
    assert.deepEqual(validateActivity(later), { ...later, offset: 50 });
  });

  for (const wrong of [
    { action: 'api_key.eaten' },
    { actor: 'x'.repeat(321) },
    { offset: '50' },
    { offset: '-1', until: '2026-11-22T19:00:00Z' },
    { offset: '1e9', until: '2026-11-22T19:00:00Z' },
    { offset: '50', until: 'yesterday' },
    { constructor: 'x' },
  ])
    it(`drops ${JSON.stringify(wrong).slice(0, 60)}`, () => {
      assert.deepEqual(validateActivity(wrong), {});
    });
});
