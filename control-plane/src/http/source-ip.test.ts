import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addresses } from '../testing/test-api.ts';
import { sourceIp } from './source-ip.ts';

const PEER = '192.0.2.1';
const behind = (trustedProxyHops: number) => ({ trustedProxyHops, trustedProxies: addresses(PEER) });

describe('sourceIp', () => {
  for (const [forwardedFor, hops, expected] of [
    // Without a trusted proxy, any client can set the header.
    [undefined, 0, PEER],
    ['203.0.113.9', 0, PEER],
    // One proxy: it wrote the last entry.
    [undefined, 1, PEER],
    ['203.0.113.9', 1, '203.0.113.9'],
    ['1.1.1.1, 203.0.113.9', 1, '203.0.113.9'],
    ['1.1.1.1,203.0.113.9', 1, '203.0.113.9'],
    ['<script>, 203.0.113.9', 1, '203.0.113.9'],
    [' 203.0.113.9 \t', 1, '203.0.113.9'],
    // Two proxies: the entry before the last.
    ['1.1.1.1, 203.0.113.9, 198.51.100.2', 2, '203.0.113.9'],
    ['203.0.113.9, 198.51.100.2', 2, '203.0.113.9'],
    ['203.0.113.9', 2, PEER],
    ['1.1.1.1, 203.0.113.9', 5, PEER],
    // IPv6, and IPv4 mapped into IPv6.
    ['2001:db8::1', 1, '2001:db8::1'],
    ['::1', 1, '::1'],
    ['::ffff:203.0.113.9', 1, '203.0.113.9'],
    ['::FFFF:203.0.113.9', 1, '203.0.113.9'],
    // Not an address.
    ['', 1, PEER],
    [',', 1, PEER],
    ['203.0.113.9,', 1, PEER],
    ['unknown', 1, PEER],
    ['<script>', 1, PEER],
    ['203.0.113.9:4711', 1, PEER],
    ['[2001:db8::1]', 1, PEER],
    ['[2001:db8::1]:4711', 1, PEER],
    ['203.0.113', 1, PEER],
    ['203.0.113.999', 1, PEER],
    ['0313.0.113.9', 1, PEER],
    ['203.0.113.9\u0000', 1, PEER],
    ['203.0.113.9 1.1.1.1', 1, PEER],
    ['fe80::1%eth0', 1, PEER],
    [`fe80::1%${'a'.repeat(5_000)}`, 1, PEER],
    ['1'.repeat(5_000), 1, PEER],
    [`${'1.1.1.1, '.repeat(1_000)}203.0.113.9`, 1, '203.0.113.9'],
  ] satisfies [string | undefined, number, string][]) {
    it(`is ${expected} for ${JSON.stringify(forwardedFor)?.slice(0, 60)} behind ${hops}`, () =>
      assert.equal(sourceIp(forwardedFor, PEER, behind(hops)), expected));
  }

  it('is the peer, whatever it forwards, if the peer is not a trusted proxy', () => {
    for (const peer of ['192.0.2.2', '::1', '2001:db8::1', '::ffff:192.0.2.2'])
      assert.equal(sourceIp('203.0.113.9', peer, behind(1)), peer.replace('::ffff:', ''));
    assert.equal(sourceIp('203.0.113.9', `::ffff:${PEER}`, behind(1)), '203.0.113.9');
  });

  it('is the peer in its plain form, and nothing where the peer is gone', () => {
    assert.equal(sourceIp(undefined, '::ffff:127.0.0.1', behind(1)), '127.0.0.1');
    assert.equal(sourceIp(undefined, '::1', behind(1)), '::1');
    assert.equal(sourceIp(undefined, undefined, behind(1)), '');
  });
});
