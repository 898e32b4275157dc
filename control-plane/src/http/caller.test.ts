import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addresses } from '../testing/test-api.ts';
import { callerOf } from './caller.ts';

const PROXY = '127.0.0.1';
const behind = (trustedProxyHops: number) => ({ trustedProxyHops, trustedProxies: addresses(PROXY) });

describe('callerOf', () => {
  for (const [title, peer, headers, hops, network] of [
    ['a program on this machine', '127.0.0.1', {}, 1, undefined],
    ['a program on this machine, over IPv6', '::1', {}, 1, undefined],
    ['a program on this machine, on a dual-stack socket', '::ffff:127.0.0.2', {}, 1, undefined],
    ['whom a proxy speaks for', PROXY, { 'x-forwarded-for': '203.0.113.9' }, 1, '203.0.113.0/24'],
    ['whom a proxy speaks for in vain', PROXY, { 'x-forwarded-for': 'unknown' }, 1, '127.0.0.0/24'],
    ['whom one proxy too few speaks for', PROXY, { 'x-forwarded-for': '203.0.113.9' }, 2, '127.0.0.0/24'],
    ['whom an ignored proxy speaks for', PROXY, { 'x-forwarded-for': '203.0.113.9' }, 0, '127.0.0.0/24'],
    ['another caller', '198.51.100.7', {}, 1, '198.51.100.0/24'],
    [
      'another peer that sends the header',
      '198.51.100.7',
      { 'x-forwarded-for': '127.0.0.1' },
      1,
      '198.51.100.0/24',
    ],
  ] as const) {
    it(`counts ${title} as ${network}`, () =>
      assert.equal(callerOf(headers, { remoteAddress: peer }, behind(hops)).network, network));
  }

  for (const [peer, headers, hops, expected] of [
    [PROXY, {}, 1, true],
    ['198.51.100.7', {}, 1, true],
    ['198.51.100.7', { 'x-forwarded-proto': 'https' }, 1, true],
    [PROXY, { 'x-forwarded-proto': 'https' }, 1, false],
    [PROXY, { 'x-forwarded-proto': 'HTTP' }, 1, true],
    [PROXY, { 'x-forwarded-proto': 'http, https' }, 1, false],
    [PROXY, { 'x-forwarded-proto': 'https, http' }, 2, false],
    [PROXY, { 'x-forwarded-proto': 'https' }, 2, false],
    [PROXY, { 'x-forwarded-proto': 'https' }, 0, true],
    [PROXY, { 'x-forwarded-for': '203.0.113.9' }, 1, false],
  ] as const) {
    it(`${expected ? 'is' : 'is not known to be'} plain HTTP from ${peer} with ${JSON.stringify(headers)} behind ${hops}`, () =>
      assert.equal(callerOf(headers, { remoteAddress: peer }, behind(hops)).isPlainHttp, expected));
  }

  for (const [peer, headers, expected] of [
    ['198.51.100.7', {}, false],
    ['198.51.100.7', { 'x-forwarded-proto': 'http' }, false],
    [PROXY, {}, false],
    // The proxy encrypts again what came to it in the clear.
    [PROXY, { 'x-forwarded-proto': 'http' }, true],
  ] as const) {
    it(`${expected ? 'is' : 'is not'} plain HTTP over TLS from ${peer} with ${JSON.stringify(headers)}`, () => {
      const socket = { remoteAddress: peer, encrypted: true };
      assert.equal(callerOf(headers, socket, behind(1)).isPlainHttp, expected);
    });
  }
});
