import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import { Secret } from '@gatehouse/contract';
import { accessCookie, clearedCookies, readSessionCookies, refreshCookie } from './cookies.ts';

describe('readSessionCookies', () => {
  it('returns tokens that print as [secret]', () => {
    const cookies = readSessionCookies('svc_access_token=tell; svc_refresh_token=tale');
    const printed = `${inspect(cookies)} ${JSON.stringify(cookies)} ${cookies?.accessToken}`;
    assert.doesNotMatch(printed, /tell|tale/);
    assert.match(printed, /\[secret\]/);
  });

  for (const [header, accessToken, refreshToken] of [
    [undefined],
    [''],
    [';;;'],
    ['svc_access_token=a', 'a'],
    ['svc_refresh_token=r', undefined, 'r'],
    ['svc_access_token=a; svc_refresh_token=r', 'a', 'r'],
    ['theme=dark; svc_refresh_token=r;svc_access_token=a; lang=ur', 'a', 'r'],
    ['  svc_access_token  =  a  ', 'a'],
    ['\tsvc_access_token=a\t', 'a'],
    // A value may hold equals signs and quotes; both are part of it.
    ['svc_access_token=a=b==', 'a=b=='],
    ['svc_access_token="a"', '"a"'],
    // None at all is not an empty one.
    ['svc_access_token='],
    ['svc_access_token'],
    ['svc_access_token; svc_refresh_token=r', undefined, 'r'],
    // Other names, however similar.
    [
      'SVC_ACCESS_TOKEN=a; svc_access_token2=b; xsvc_access_token=c; svc access token=d; __Host-svc_access_token=e',
    ],
    ['=svc_access_token; x=svc_access_token=a'],
    ['__proto__=a; constructor=b; toString=c'],
    ['svc_access_token,svc_refresh_token=a'],
  ] as [string | undefined, string?, string?][]) {
    it(`reads ${JSON.stringify(header)}`, () => {
      const cookies = readSessionCookies(header);
      assert.ok(cookies);
      assert.equal(cookies.accessToken?.reveal(), accessToken);
      assert.equal(cookies.refreshToken?.reveal(), refreshToken);
    });
  }

  for (const header of [
    'svc_access_token=good; svc_access_token=evil',
    'svc_access_token=same; svc_access_token=same',
    'svc_access_token=; svc_access_token=good',
    'svc_access_token=good; theme=dark; svc_access_token=',
    'svc_refresh_token=r; svc_refresh_token=s',
    'svc_access_token=a; svc_refresh_token=r; svc_refresh_token=s',
    'svc_access_token=a;svc_access_token =b',
  ]) {
    it(`rejects the repeated cookie in ${JSON.stringify(header)}`, () =>
      assert.equal(readSessionCookies(header), undefined));
  }
});

describe('the cookies that are set', () => {
  it('live as long as their token, hidden from scripts and from other sites', () => {
    assert.equal(
      accessCookie(new Secret('t')),
      'svc_access_token=t; Path=/; Max-Age=900; HttpOnly; Secure; SameSite=Lax',
    );
    assert.equal(
      refreshCookie(new Secret('t')),
      'svc_refresh_token=t; Path=/api/auth; Max-Age=604800; HttpOnly; Secure; SameSite=Lax',
    );
  });

  it('are deleted by the same names and paths', () => {
    assert.deepEqual(clearedCookies(), [
      'svc_access_token=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=Lax',
      'svc_refresh_token=; Path=/api/auth; Max-Age=0; HttpOnly; Secure; SameSite=Lax',
    ]);
  });
});
