import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { headerIssue, SIGNATURE_ALGORITHMS } from './id-token.ts';

describe('headerIssue', () => {
  const header = { alg: 'RS256', kid: 'k' };

  for (const fine of [{}, { typ: 'JWT' }, { typ: 'jwt' }, { cty: 'x' }])
    it(`takes ${JSON.stringify(fine)}`, () =>
      assert.equal(headerIssue({ ...header, ...fine }, ['RS256']), undefined));

  for (const [given, issue] of [
    [{ alg: 'none' }, 'algorithm'],
    [{ alg: 'HS256' }, 'algorithm'],
    [{ alg: 'RS512' }, 'algorithm'],
    [{ alg: 'PS256' }, 'algorithm'],
    [{ alg: 'ES256' }, 'algorithm'],
    [{ alg: 'rs256' }, 'algorithm'],
    [{ alg: ['RS256'] }, 'algorithm'],
    [{ alg: undefined }, 'algorithm'],
    [{ kid: undefined }, 'no key id'],
    [{ kid: '' }, 'no key id'],
    [{ kid: 1 }, 'no key id'],
    [{ jku: 'https://attacker.example/jwks' }, 'header jku'],
    [{ jwk: { kty: 'RSA' } }, 'header jwk'],
    [{ x5u: 'https://attacker.example/cert' }, 'header x5u'],
    [{ x5c: [] }, 'header x5c'],
    [{ crit: [] }, 'header crit'],
    [{ jwk: null }, 'header jwk'],
    [{ typ: 'at+jwt' }, 'type'],
    [{ typ: 'application/at+jwt' }, 'type'],
    [{ typ: 'logout+jwt' }, 'type'],
    [{ typ: '' }, 'type'],
    [{ typ: ['JWT'] }, 'type'],
    [{ typ: null }, 'type'],
  ] as const)
    it(`refuses ${JSON.stringify(given)}`, () =>
      assert.equal(headerIssue({ ...header, ...given }, ['RS256']), issue));

  it('takes the algorithms that it is told, and none that signs with a shared secret', () => {
    assert.equal(headerIssue({ ...header, alg: 'ES256' }, SIGNATURE_ALGORITHMS), undefined);
    for (const alg of ['none', 'HS256', 'HS384', 'HS512', 'dir'])
      assert.equal(headerIssue({ ...header, alg }, SIGNATURE_ALGORITHMS), 'algorithm');
  });
});
