import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fingerprint } from './fingerprint.ts';

describe('fingerprint', () => {
  const body = { name: 'k', expires_at: 5n, allowed_models: ['a', 'b'], environment: 'testing' };

  it('is the same for the same fields in any order', () => {
    const { name, ...rest } = body;
    assert.deepEqual(fingerprint({ ...rest, name }), fingerprint(body));
    assert.equal(fingerprint(body).length, 32);
  });

  it('is another for another value, an order of the models included', () => {
    for (const other of [{ name: 'K' }, { expires_at: 6n }, { allowed_models: ['b', 'a'] }, { extra: null }])
      assert.notDeepEqual(fingerprint({ ...body, ...other }), fingerprint(body));
  });
});
