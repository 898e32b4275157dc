import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkHost, hostName, isLoopbackHost, type ServedHosts } from './served-hosts.ts';

const LISTED: ServedHosts = new Set(['gatehouse.example', 'api.internal']);

const judge = (hosts: readonly string[], url = '/', served: ServedHosts = LISTED, httpVersion = '1.1') =>
  checkHost(
    { rawHeaders: ['Accept', 'Host', ...hosts.flatMap((host) => ['hOsT', host])], url, httpVersion },
    served,
  )?.status;

describe('checkHost', () => {
  for (const host of [
    'localhost',
    'localhost:8080',
    'LOCALHOST',
    'localhost.',
    'app.localhost:1',
    '127.0.0.1',
    '127.0.0.1:49152',
    '[::1]',
    '[::1]:8080',
    '0.0.0.0:8080',
    '192.168.1.20:8080',
    '203.0.113.9',
    '[2001:DB8::1]:8080',
    '[::ffff:127.0.0.1]',
    'gatehouse.example',
    'Gatehouse.Example:443',
    'gatehouse.example.',
    'gatehouse.example.:8080',
    'api.internal:',
  ]) {
    it(`lets ${host} pass`, () => assert.equal(judge([host]), undefined));
  }

  for (const host of [
    'evil.example',
    'evil.example:8080',
    'evil.gatehouse.example',
    'gatehouse.example.evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'notlocalhost',
    '.',
    // Forms of an address that no browser sends, and that some resolvers take for names.
    '127.1',
    '0x7f000001',
    '2130706433',
    '127.0.0.1.nip.io',
    'xn--gatehouse-.example',
  ]) {
    it(`421 for ${host}`, () => assert.equal(judge([host]), 421));
  }

  for (const host of [
    '',
    ' ',
    ':8080',
    'a b',
    'localhost/',
    'user@localhost',
    'localhost, evil.example',
    'localhost:80:80',
    'localhost:port',
    'localhost:123456',
    '::1',
    '[localhost]',
    '[::1',
    '[::1]x',
    '[1.2.3.4]',
    'http://localhost',
  ]) {
    it(`400 for ${JSON.stringify(host)}`, () => assert.equal(judge([host]), 400));
  }

  it('400 for two Host headers, the same twice too, and for none in HTTP/1.1', () => {
    for (const hosts of [['localhost', 'evil.example'], ['localhost', 'localhost'], []]) {
      assert.equal(judge(hosts), 400);
      assert.equal(judge(hosts, '/', '*'), 400);
    }
    assert.equal(judge([], '/', LISTED, '1.0'), undefined);
  });

  it('judges the host of an absolute target beside the header', () => {
    assert.equal(judge(['localhost'], 'http://localhost:8080/api/keys'), undefined);
    assert.equal(judge(['localhost'], 'http://gatehouse.example'), undefined);
    for (const url of [
      'http://evil.example/api/keys',
      'HTTPS://evil.example',
      'http://evil.example?a',
      'ws://evil.example/',
    ])
      assert.equal(judge(['localhost'], url), 421);
    assert.equal(judge(['evil.example'], 'http://localhost/'), 421);
    assert.equal(judge([], 'http://evil.example/', LISTED, '1.0'), 421);
    for (const url of ['http://', 'http:///api', 'http://user@localhost/', 'http://localhost@evil.example/'])
      assert.equal(judge(['localhost'], url), 400);
    // A path that holds an address is a path.
    assert.equal(judge(['localhost'], '/http://evil.example/'), undefined);
  });

  it('lets every name pass where every name is served', () => {
    for (const host of ['evil.example', 'a b', '']) assert.equal(judge([host], '/', '*'), undefined);
    assert.equal(judge(['localhost'], 'http://evil.example/', '*'), undefined);
  });

  it('names the host, shortened, and what is served', () => {
    const sentence = (host: string) =>
      checkHost({ rawHeaders: ['host', host], url: '/', httpVersion: '1.1' }, LISTED)?.sentence;
    assert.equal(
      sentence('evil.example:80'),
      'The host "evil.example" is not served here. Served are IP addresses, localhost and the names in ALLOWED_HOSTS.',
    );
    assert.ok((sentence('x'.repeat(5_000)) ?? '').length < 250);
  });
});

describe('isLoopbackHost', () => {
  for (const [host, expected] of [
    ['localhost:8080', true],
    ['127.9.9.9', true],
    ['[::1]:1', true],
    ['a.localhost', true],
    ['192.168.0.1', false],
    ['127.example', false],
    ['gatehouse.example', false],
    ['[2001:db8::1]', false],
  ] as const) {
    it(`${expected} for ${host}`, () => assert.equal(isLoopbackHost(hostName(host) ?? ''), expected));
  }
});
