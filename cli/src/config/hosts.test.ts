import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addressRanges } from './address-ranges.ts';
import { readConfig } from './config.ts';
import { hostNames, isLoopbackOnly, servedHosts } from './hosts.ts';

describe('hostNames', () => {
  it('reads a list of names, lower-case', () => {
    assert.deepEqual(
      hostNames('Gatehouse.Example.com , api_1.internal,localhost., 10.0.0.1,[::1]'),
      new Set(['gatehouse.example.com', 'api_1.internal', 'localhost', '10.0.0.1', '::1']),
    );
    assert.equal(hostNames(' * '), '*');
  });

  for (const text of [
    'a,',
    ',',
    'a b',
    'https://a.example',
    'a.example:443',
    'a.example/',
    '*.a.example',
    'a,*',
    '-a',
    'a-',
    'a..b',
    'é.example',
    '10.0.0.1:80',
    `${'a'.repeat(254)}`,
  ]) {
    it(`refuses ${JSON.stringify(text.slice(0, 30))}`, () => assert.equal(hostNames(text), undefined));
  }
});

describe('servedHosts', () => {
  it('adds HOST and the hosts of allowed origins', () => {
    const allowedOrigins = new Set(['https://console.example', 'http://localhost:5173', 'http://[::1]:3000']);
    assert.deepEqual(
      servedHosts({ host: 'Gatehouse.lan', allowedHosts: new Set(['a.example']), allowedOrigins }),
      new Set(['a.example', 'gatehouse.lan', 'console.example', 'localhost', '::1']),
    );
    assert.deepEqual(
      servedHosts({ host: '::', allowedHosts: new Set(), allowedOrigins: new Set() }),
      new Set(),
    );
    assert.equal(servedHosts({ host: '127.0.0.1', allowedHosts: '*', allowedOrigins }), '*');
  });

  it('adds the host of the public URL', () => {
    const config = { host: '127.0.0.1', allowedHosts: new Set<string>(), allowedOrigins: new Set<string>() };
    const served = (url: string) =>
      servedHosts(config, readConfig({ PUBLIC_GATEWAY_URL: url }).publicGatewayUrl);
    assert.deepEqual(served('https://GW.example.com.:8443/ai/v1'), new Set(['127.0.0.1', 'gw.example.com']));
    assert.deepEqual(served('https://bücher.example'), new Set(['127.0.0.1', 'xn--bcher-kva.example']));
    assert.deepEqual(served('http://[::1]:8081'), new Set(['127.0.0.1', '::1']));
  });
});

describe('isLoopbackOnly', () => {
  for (const [host, expected] of [
    ['127.0.0.1', true],
    ['127.1.2.3', true],
    ['::1', true],
    ['::ffff:127.0.0.1', true],
    ['localhost', true],
    ['LOCALHOST', true],
    ['0.0.0.0', false],
    ['::', false],
    ['192.168.1.20', false],
    ['::ffff:10.0.0.1', false],
    ['gatehouse.lan', false],
    ['0', false],
  ] as const) {
    it(`${expected} for ${host}`, () => assert.equal(isLoopbackOnly(host), expected));
  }
});

describe('addressRanges', () => {
  it('reads addresses and ranges of both kinds', () => {
    const ranges = addressRanges('10.0.0.0/8, 192.0.2.7,2001:db8::/32 ,::1') ?? assert.fail();
    for (const [address, family, expected] of [
      ['10.255.0.1', 'ipv4', true],
      ['11.0.0.1', 'ipv4', false],
      ['192.0.2.7', 'ipv4', true],
      ['192.0.2.8', 'ipv4', false],
      ['2001:db8:ffff::1', 'ipv6', true],
      ['2001:db9::1', 'ipv6', false],
      ['::1', 'ipv6', true],
      ['::2', 'ipv6', false],
    ] as const)
      assert.equal(ranges.check(address, family), expected, address);
    assert.equal(addressRanges('0.0.0.0/0,::/0')?.check('203.0.113.9', 'ipv4'), true);
  });

  for (const text of [
    '',
    ',',
    '10.0.0.0/33',
    '::/129',
    '10.0.0/8',
    '10.0.0.0/',
    '10.0.0.0/-1',
    'localhost',
    '[::1]',
    'fe80::1%eth0',
    '::ffff:10.0.0.1',
    '10.0.0.1,x',
    '10.0.0.0/8/8',
    '*',
  ]) {
    it(`refuses ${JSON.stringify(text)}`, () => assert.equal(addressRanges(text), undefined));
  }
});
