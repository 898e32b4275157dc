import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addressPrefix } from './address-prefix.ts';

describe('addressPrefix', () => {
  for (const [address, prefix] of [
    ['192.0.2.1', '192.0.2.0/24'],
    ['192.0.2.255', '192.0.2.0/24'],
    ['203.0.113.9', '203.0.113.0/24'],
    ['127.0.0.1', '127.0.0.0/24'],
    ['::1', '0:0:0::/48'],
    ['::', '0:0:0::/48'],
    ['2001:db8::', '2001:db8:0::/48'],
    ['2001:db8::1', '2001:db8:0::/48'],
    ['2001:0DB8:0000::2:3', '2001:db8:0::/48'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
    ['2001:db8:1:2::', '2001:db8:1::/48'],
    ['2001::5:6:7:8:9:a', '2001:0:5::/48'],
    ['1::2', '1:0:0::/48'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0::/48'],
    ['2001:DB8:0007:ffff:ffff:ffff:ffff:ffff', '2001:db8:7::/48'],
    ['2001:db8:0:5::1', '2001:db8:0::/48'],
    ['fe80::1%eth0', 'fe80:0:0::/48'],
    ['1::', '1:0:0::/48'],
    ['1:2:3:4:5:6:7:8', '1:2:3::/48'],
    ['', ''],
    ['not an address', 'not an address'],
  ] satisfies [string, string][]) {
    it(`is ${prefix} of ${JSON.stringify(address)}`, () => assert.equal(addressPrefix(address), prefix));
  }
});
