import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import type { PlainToken } from '@gatehouse/contract';
import { hashToken, newToken } from './tokens.ts';

describe('tokens', () => {
  it('have 256 bits in characters of a cookie, and are never the same', () => {
    const tokens = Array.from({ length: 1_000 }, newToken);
    for (const token of tokens) assert.match(token, /^[A-Za-z0-9_-]{43}$/);
    assert.equal(new Set(tokens).size, tokens.length);
  });

  it('are stored as SHA-256', () => {
    const expected = createHash('sha256').update('abc').digest();
    assert.deepEqual(hashToken('abc' as PlainToken), expected);
    assert.notDeepEqual(hashToken('abd' as PlainToken), expected);
  });
});
