import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { discoveryUrl, issuerNames, readDiscovery } from './discovery.ts';

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
        metadata: { issuer: named, jwks_uri: keys },
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

describe('the addresses of an issuer', () => {
  const issuer = 'http://127.0.0.1:9000/a';
  const jwks_uri = 'https://keys.example/';
  const read = (more: Readonly<Record<string, unknown>>) =>
    readDiscovery({ issuer, jwks_uri, ...more }, issuer);

  for (const address of ['https://login.example/auth?a=b', 'http://127.0.0.1:9000/auth'])
    it(`may be ${address}`, () =>
      assert.deepEqual(read({ authorization_endpoint: address, token_endpoint: address }), {
        issuer,
        keysUrl: jwks_uri,
        metadata: { issuer, jwks_uri, authorization_endpoint: address, token_endpoint: address },
        authorizationUrl: address,
      }));

  for (const address of [null, 7, '/auth', 'http://login.example/auth', 'javascript:alert(1)', 'data:,'])
    it(`are not ${address}, and tokens are still verified`, () =>
      assert.deepEqual(read({ authorization_endpoint: address, token_endpoint: address }), {
        issuer,
        keysUrl: jwks_uri,
        metadata: { issuer, jwks_uri },
      }));
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
