import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  discoveryUrl,
  headerIssue,
  isGoogleAuthoritative,
  issuerNames,
  readClaims,
  readDiscovery,
} from './google-rules.ts';

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

describe('headerIssue', () => {
  const header = { alg: 'RS256', kid: 'k' };

  for (const fine of [{}, { typ: 'JWT' }, { typ: 'jwt' }, { cty: 'x' }])
    it(`takes ${JSON.stringify(fine)}`, () => assert.equal(headerIssue({ ...header, ...fine }), undefined));

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
    it(`refuses ${JSON.stringify(given)}`, () => assert.equal(headerIssue({ ...header, ...given }), issue));
});

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

describe('readDiscovery', () => {
  const google = 'https://accounts.google.com';
  const loopback = 'http://127.0.0.1:9000/a';

  it('asks at the place that the standard names, with or without a slash at the end', () => {
    assert.equal(discoveryUrl(google), `${google}/.well-known/openid-configuration`);
    assert.equal(discoveryUrl(`${loopback}/`), `${loopback}/.well-known/openid-configuration`);
  });

  for (const [issuer, named, keys] of [
    [google, google, 'https://www.googleapis.com/oauth2/v3/certs'],
    [loopback, loopback, 'http://127.0.0.1:9000/jwks'],
    [loopback, loopback, 'https://keys.example/jwks'],
    [`${loopback}/`, loopback, 'http://127.0.0.1:9000/jwks'],
    [loopback, `${loopback}/`, 'http://127.0.0.1:9000/jwks'],
  ] as const)
    it(`relies on ${named} with its keys at ${keys}`, () =>
      assert.deepEqual(readDiscovery({ issuer: named, jwks_uri: keys }, issuer), {
        issuer: named,
        keysUrl: keys,
      }));

  for (const [issuer, document] of [
    [google, undefined],
    [google, null],
    [google, 'https://accounts.google.com'],
    [google, []],
    [google, {}],
    [google, { issuer: google }],
    [google, { issuer: google, jwks_uri: 7 }],
    [google, { issuer: google, jwks_uri: '/jwks' }],
    [google, { issuer: google, jwks_uri: 'http://www.googleapis.com/certs' }],
    [google, { issuer: google, jwks_uri: 'http://accounts.google.com/certs' }],
    [google, { issuer: google, jwks_uri: 'http://127.0.0.1/certs' }],
    [google, { issuer: google, jwks_uri: 'file:///etc/passwd' }],
    [google, { issuer: google, jwks_uri: 'data:application/json,{}' }],
    [google, { issuer: 'https://attacker.example', jwks_uri: 'https://keys.example' }],
    [google, { issuer: 'https://accounts.google.com//', jwks_uri: 'https://keys.example' }],
    [google, { issuer: 'https://ACCOUNTS.google.com', jwks_uri: 'https://keys.example' }],
    [loopback, { issuer: loopback, jwks_uri: 'http://127.0.0.1:9001/jwks' }],
    [loopback, { issuer: loopback, jwks_uri: 'http://keys.example/jwks' }],
  ] as const)
    it(`does not rely on ${JSON.stringify(document)} of ${issuer}`, () =>
      assert.ok('issue' in readDiscovery(document, issuer)));
});

describe('the address where a browser signs in', () => {
  const issuer = 'http://127.0.0.1:9000/a';
  const read = (authorization_endpoint: unknown) =>
    readDiscovery({ issuer, jwks_uri: 'https://keys.example/', authorization_endpoint }, issuer);

  for (const address of ['https://login.example/auth?a=b', 'http://127.0.0.1:9000/auth'])
    it(`is ${address}`, () =>
      assert.deepEqual(read(address), {
        issuer,
        keysUrl: 'https://keys.example/',
        authorizationUrl: address,
      }));

  for (const address of [
    undefined,
    null,
    7,
    '/auth',
    'http://login.example/auth',
    'javascript:alert(1)',
    'data:,',
  ])
    it(`is not ${address}, and tokens are still verified`, () =>
      assert.deepEqual(read(address), { issuer, keysUrl: 'https://keys.example/' }));
});

describe('issuerNames', () => {
  it('knows both spellings of Google, and one of everybody else', () => {
    assert.deepEqual(issuerNames('https://accounts.google.com'), [
      'https://accounts.google.com',
      'accounts.google.com',
    ]);
    assert.deepEqual(issuerNames('https://login.example/a/'), ['https://login.example/a/']);
  });
});
