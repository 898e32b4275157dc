import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isGoogleAuthoritative, readClaims } from './google-rules.ts';

const NOW = 1_795_000_000;

const EXPECTED = {
  clientId: 'ours',
  issuers: ['https://accounts.google.com', 'accounts.google.com'],
  nonce: undefined,
  nowSeconds: NOW,
};

const CLAIMS = {
  iss: 'https://accounts.google.com',
  aud: 'ours',
  azp: 'ours',
  exp: NOW + 3_600,
  iat: NOW,
  sub: '110169484474386276334',
  email: 'Ada@example.com',
  email_verified: true,
};

describe('readClaims', () => {
  const read = (claims: Record<string, unknown>, nonce?: string) =>
    readClaims({ ...CLAIMS, ...claims }, { ...EXPECTED, nonce });

  it('reads who signs in, the address as it is spelled', () => {
    assert.deepEqual(read({ hd: 'example.com' }), {
      subject: '110169484474386276334',
      email: 'Ada@example.com',
      hostedDomain: 'example.com',
      hasNonce: false,
      acceptedUntilSeconds: NOW + 3_660,
    });
  });

  for (const [fine, nonce] of [
    [{ iss: 'accounts.google.com' }],
    [{ aud: ['ours'] }],
    [{ azp: undefined }],
    [{ exp: NOW - 59 }],
    [{ exp: NOW - 59.5 }],
    [{ iat: NOW + 60 }],
    [{ iat: NOW - 86_400 }],
    [{ iat: 0 }],
    [{ nbf: NOW + 60 }],
    [{ sub: 'x'.repeat(255) }],
    [{ hd: 7 }],
    [{ nonce: 'n' }, 'n'],
    [{ nonce: 'n' }, undefined],
    [{ at_hash: 'x', name: '\ud800', anything: { else: [] } }],
  ] as [Record<string, unknown>, string?][])
    it(`takes ${JSON.stringify(fine).slice(0, 60)}`, () => assert.ok('subject' in read(fine, nonce)));

  for (const [issue, claims, nonce] of [
    ['issuer', { iss: 'https://accounts.google.com/' }],
    ['issuer', { iss: 'https://accounts.google.com.example' }],
    ['issuer', { iss: ['accounts.google.com'] }],
    ['issuer', { iss: undefined }],
    ['audience', { aud: 'theirs' }],
    ['audience', { aud: ['ours', 'theirs'] }],
    ['audience', { aud: ['theirs'] }],
    ['audience', { aud: [['ours']] }],
    ['audience', { aud: [] }],
    ['audience', { aud: 'OURS' }],
    ['audience', { aud: undefined }],
    ['authorised party', { azp: 'theirs' }],
    ['authorised party', { azp: null }],
    ['expired', { exp: NOW - 60 }],
    ['expired', { exp: undefined }],
    ['expired', { exp: String(NOW + 60) }],
    ['expired', { exp: 1e300 }],
    ['expired', { exp: Number.POSITIVE_INFINITY }],
    ['expired', { exp: Number.NaN }],
    ['issued in the future', { iat: NOW + 61 }],
    ['issued in the future', { iat: undefined }],
    ['issued in the future', { iat: 'yesterday' }],
    ['not yet valid', { nbf: NOW + 61 }],
    ['not yet valid', { nbf: null }],
    ['subject', { sub: '' }],
    ['subject', { sub: 110169484474386 }],
    ['subject', { sub: 'x'.repeat(256) }],
    ['subject', { sub: 'a\u0000' }],
    ['subject', { sub: '\udc00' }],
    ['subject', { sub: undefined }],
    ['e-mail address', { email: undefined }],
    ['e-mail address', { email: ['a@example.com'] }],
    ['e-mail address', { email: 'a\u0000@example.com' }],
    ['e-mail address not verified', { email_verified: false }],
    ['e-mail address not verified', { email_verified: 'true' }],
    ['e-mail address not verified', { email_verified: 1 }],
    ['e-mail address not verified', { email_verified: undefined }],
    ['nonce', { nonce: 'n' }, 'N'],
    ['nonce', { nonce: ['n'] }, 'n'],
    ['nonce', {}, 'n'],
    ['nonce', {}, ''],
  ] as [string, Record<string, unknown>, string?][])
    it(`refuses ${JSON.stringify(claims).slice(0, 60)}${nonce === undefined ? '' : ` with nonce ${nonce}`}`, () =>
      assert.deepEqual(read(claims, nonce), { issue }));

  it('refuses what are no claims', () => {
    for (const claims of [null, undefined, [], [CLAIMS], 'claims', 7, true])
      assert.deepEqual(readClaims(claims, EXPECTED), { issue: 'claims' });
  });

  it('refuses every token that lacks a claim or has one of another kind, for 5,000 of them', () => {
    const needed = ['iss', 'aud', 'exp', 'iat', 'sub', 'email', 'email_verified'] as const;
    const others = [undefined, null, 0, -1, '', 'x', 'true', [], {}, [[]], false, NOW * 1e6];
    let state = 11;
    const pick = <T>(list: readonly T[]): T => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return list[Math.floor((state / 2 ** 32) * list.length)] as T;
    };
    for (let n = 0; n < 5_000; n += 1) {
      const claims: Record<string, unknown> = { ...CLAIMS };
      const broken = pick(needed);
      // As a subject and as an address any text will do; as the time of issue any time that is past.
      const isText = broken === 'sub' || broken === 'email';
      const isPast = broken === 'iat';
      claims[broken] = pick(
        others.filter(
          (other) =>
            !(isText && typeof other === 'string') && !(isPast && typeof other === 'number' && other <= NOW),
        ),
      );
      const more = pick(needed);
      if (more !== broken) claims[more] = pick([claims[more], ...others]);
      assert.ok('issue' in readClaims(claims, EXPECTED), JSON.stringify(claims));
    }
  });
});

describe('isGoogleAuthoritative', () => {
  for (const [email, hostedDomain, expected] of [
    ['a@gmail.com', undefined, true],
    ['a@gmail.com', 'example.com', true],
    ['a@example.com', 'example.com', true],
    ['a@example.com', 'EXAMPLE.com', true],
    ['a@example.com', undefined, false],
    ['a@example.com', '', false],
    ['a@example.com', 'sub.example.com', false],
    ['a@sub.example.com', 'example.com', false],
    ['a@example.com', 'gmail.com', false],
    ['a@googlemail.com', undefined, false],
    ['a@notgmail.com', undefined, false],
    ['a@gmail.com.example', undefined, false],
    ['gmail.com@example.com', undefined, false],
    ['a@kelvin.example', '\u212aelvin.example', false],
    ['a@example.com', ' example.com', false],
  ] as const)
    it(`is ${expected} for ${email} hosted by ${hostedDomain}`, () =>
      assert.equal(isGoogleAuthoritative(email, hostedDomain), expected));
});
