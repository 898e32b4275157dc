import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseProxy, parseProxyExceptions, proxiesFor } from './proxies.ts';

const PROXY = new URL('http://proxy.example:3128');

/** True if the address goes through the proxy, with these exceptions. */
function isProxied(address: string, exceptions = ''): boolean {
  const parsed = parseProxyExceptions(exceptions);
  assert.ok(parsed, exceptions);
  return proxiesFor({ http: PROXY, https: PROXY, exceptions: parsed })(new URL(address)) !== undefined;
}

describe('the proxy of an address', () => {
  it('is that of its scheme', () => {
    const proxyOf = proxiesFor({ http: undefined, https: PROXY, exceptions: undefined });
    assert.equal(proxyOf(new URL('https://api.example')), PROXY);
    assert.equal(proxyOf(new URL('http://api.example')), undefined);
  });

  for (const host of [
    'localhost',
    'a.localhost',
    'localhost.',
    '127.0.0.1',
    '127.9.9.9',
    '[::1]',
    '[::ffff:127.0.0.1]',
  ])
    it(`is none for this machine: ${host}`, () => assert.equal(isProxied(`http://${host}:1/`), false));

  const CASES: readonly (readonly [string, string, boolean])[] = [
    ['*', 'https://api.example', false],
    ['', 'https://api.example', true],
    ['api.example', 'https://api.example', false],
    ['API.example', 'https://api.EXAMPLE.', false],
    ['api.example', 'https://eu.api.example', true],
    ['api.example', 'https://myapi.example', true],
    ['.example', 'https://api.example', false],
    ['.example', 'https://example', true],
    ['*.api.example', 'https://eu.api.example', false],
    ['api.example:443', 'https://api.example', false],
    ['api.example:80', 'https://api.example', true],
    ['api.example:8443', 'https://api.example:8443', false],
    ['.example:8443', 'https://api.example', true],
    ['10.1.2.3', 'http://10.1.2.3:9000', false],
    ['10.1.2.3:80', 'http://10.1.2.3:9000', true],
    ['10.0.0.0/8', 'http://10.200.0.1', false],
    ['10.0.0.0/8', 'http://11.0.0.1', true],
    ['10.0.0.1-10.0.0.9', 'http://10.0.0.9', false],
    ['10.0.0.1-10.0.0.9', 'http://10.0.0.10', true],
    ['fd00::/8', 'http://[fd12::1]', false],
    ['[fd12::1]:8080', 'http://[fd12::1]:8080', false],
    ['fd12::1', 'http://[fd12::2]', true],
    ['other.example, api.example', 'https://api.example', false],
    ['other.example api.example,', 'https://api.example', false],
  ];
  for (const [exceptions, address, expected] of CASES)
    it(`with NO_PROXY=${exceptions}, ${address} ${expected ? 'is' : 'is not'} proxied`, () =>
      assert.equal(isProxied(address, exceptions), expected));

  for (const text of [
    '10.0.0.0/33',
    'a/b',
    'http://a.example',
    '10.0.0.1-10.0',
    '10.0',
    'a.*.example',
    'a b?c',
    '::1/129',
    'a:b:c',
  ])
    it(`${text} is no exception`, () => assert.equal(parseProxyExceptions(text), undefined));
});

describe('the address of a proxy', () => {
  for (const [text, href] of [
    ['http://proxy.example:3128', 'http://proxy.example:3128/'],
    ['proxy.example:3128', 'http://proxy.example:3128/'],
    ['proxy.example', 'http://proxy.example/'],
    ['https://ada:pass@proxy.example/', 'https://ada:pass@proxy.example/'],
  ] as const)
    it(`${text} is one`, () => assert.equal(parseProxy(text)?.href, href));

  for (const text of [
    'socks5://proxy.example',
    'http://',
    'http://proxy.example/path',
    'http://a%zz@b',
    'http://b?c',
    '',
  ])
    it(`${JSON.stringify(text)} is none`, () => assert.equal(parseProxy(text), undefined));
});
