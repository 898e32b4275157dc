import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { validateSessions } from './sessions-search.ts';

describe('the URL of sessions', () => {
  it('keeps what is valid, and leaves defaults out', () => {
    assert.deepEqual(
      validateSessions({ name: 'thread-id', q: 'x', sort: 'cost', offset: '50', range: '7d' }),
      {
        name: 'thread-id',
        q: 'x',
        sort: 'cost',
        offset: 50,
        range: '7d',
      },
    );
    assert.deepEqual(validateSessions({ name: 'session-id', sort: 'last_request' }), {});
  });

  for (const wrong of [
    { name: 'x'.repeat(65) },
    { name: ' ' },
    { sort: 'name' },
    { offset: '-1' },
    { q: 'x'.repeat(301) },
  ])
    it(`drops ${JSON.stringify(wrong).slice(0, 40)}`, () => assert.deepEqual(validateSessions(wrong), {}));
});
