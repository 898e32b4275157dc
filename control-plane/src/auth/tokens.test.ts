import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { Secret } from '@gatehouse/contract';
import { hashToken, newToken, tenantOfToken } from './tokens.ts';

describe('tokens', () => {
  it('have 256 bits in characters of a cookie, and are never the same', () => {
    const tokens = Array.from({ length: 1_000 }, () => newToken().reveal());
    for (const token of tokens) assert.match(token, /^[A-Za-z0-9_-]{43}$/);
    assert.equal(new Set(tokens).size, tokens.length);
  });

  it('are stored as SHA-256', () => {
    const expected = createHash('sha256').update('abc').digest();
    assert.deepEqual(hashToken(new Secret('abc')), expected);
    assert.notDeepEqual(hashToken(new Secret('abd')), expected);
  });

  it('are scheduled each as a tenant of its own, whose name does not show the token', () => {
    const [one, other] = [newToken(), newToken()];
    assert.equal(tenantOfToken(one), tenantOfToken(new Secret(one.reveal())));
    assert.notEqual(tenantOfToken(one), tenantOfToken(other));
    assert.ok(!tenantOfToken(one).includes(one.reveal()));
    assert.doesNotMatch(tenantOfToken(undefined), /undefined/);
  });
});
