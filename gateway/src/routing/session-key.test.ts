import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Caller, sessionOf } from './session-key.ts';

const ORGANIZATION = 'fb6b1a58-7a8f-4d3f-9a30-0d1d1a1e0001';
const of = (
  headers: Record<string, string>,
  members: Record<string, unknown> = {},
  organizationId = ORGANIZATION,
  caller: Partial<Caller> = {},
) => {
  const given: Caller = { organizationId, keyId: 'k', endpoint: 'chat', ...caller };
  return sessionOf(given, headers, new Map(Object.entries(members)));
};

describe('the session of a request', () => {
  it('is undefined where nothing names one', () => {
    assert.equal(of({}), undefined);
    assert.equal(of({ 'session-id': '' }, { user: '', metadata: null }), undefined);
  });

  it('is the same wherever it is named, in the order of how narrow the name is', () => {
    const same = of({ 'x-claude-code-session-id': 's' });
    assert.ok(same);
    assert.deepEqual(of({ 'session-id': 's' }), same);
    assert.deepEqual(of({ 'thread-id': 's' }), same);
    assert.deepEqual(of({}, { prompt_cache_key: 's' }), same);
    assert.deepEqual(of({}, { safety_identifier: 's' }), same);
    assert.deepEqual(of({}, { user: 's' }), same);
    assert.deepEqual(of({}, { metadata: { user_id: 's' } }), same);
    assert.deepEqual(of({ 'session-id': 's', 'thread-id': 'other' }, { user: 'another' }), same);
    assert.deepEqual(of({}, { prompt_cache_key: 's', user: 'u', metadata: { user_id: 'm' } }), same);
  });

  it('differs by name and by organisation', () => {
    assert.notDeepEqual(of({}, { user: 'a' }), of({}, { user: 'b' }));
    assert.notDeepEqual(of({}, { user: 'a' }), of({}, { user: 'a' }, 'fb6b1a58-7a8f-4d3f-9a30-0d1d1a1e0002'));
  });

  it('is the key where a provider may store the response, unless the request names one', () => {
    const endpoint = 'responses';
    const stored = (members: Record<string, unknown> = {}, keyId = 'k') =>
      of({}, members, ORGANIZATION, { endpoint, keyId });
    assert.ok(stored());
    assert.deepEqual(stored({ store: true, previous_response_id: 'resp_1' }), stored());
    assert.notDeepEqual(stored({}, 'other'), stored());
    assert.deepEqual(stored({ user: 's' }), of({}, { user: 's' }));
    assert.equal(stored({ store: false }), undefined);
  });

  it('takes no name that is no text, or a long one', () => {
    for (const value of [7, null, true, {}, [], ['s'], undefined, 'x'.repeat(1_025)]) {
      assert.equal(of({}, { prompt_cache_key: value, user: value, metadata: { user_id: value } }), undefined);
      assert.equal(of({}, { metadata: value }), undefined);
    }
    assert.equal(of({ 'session-id': 'x'.repeat(1_025) }), undefined);
  });
});
