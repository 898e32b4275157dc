import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addresses } from '../testing/test-api.ts';
import { callerOf } from './caller.ts';
import { ownOrigin } from './own-origin.ts';

const settings = { trustedProxyHops: 1, trustedProxies: addresses('10.0.0.1') };
const served = new Set(['gatehouse.example']);

function originFor(
  headers: Record<string, string>,
  { peer = '192.0.2.1', encrypted = false }: { peer?: string; encrypted?: boolean } = {},
): string {
  return ownOrigin(headers, callerOf(headers, { remoteAddress: peer, encrypted }, settings), served);
}

describe('the origin by which a browser addresses the service', () => {
  const proxy = { peer: '10.0.0.1' };
  const host = 'gatehouse.example:8080';

  it('is the host that it asked for, and whether it used TLS', () => {
    assert.equal(originFor({ host }), 'http://gatehouse.example:8080');
    assert.equal(originFor({ host }, { encrypted: true }), 'https://gatehouse.example:8080');
    assert.equal(originFor({ host: '[::1]:8080' }), 'http://[::1]:8080');
  });

  it('is what a trusted proxy says of it', () => {
    const forwarded = { 'x-forwarded-for': '192.0.2.1', 'x-forwarded-proto': 'https' };
    assert.equal(originFor({ host, ...forwarded }, proxy), 'https://gatehouse.example:8080');
    const named = { host: '10.0.0.2:8080', ...forwarded, 'x-forwarded-host': 'gatehouse.example' };
    assert.equal(originFor(named, proxy), 'https://gatehouse.example');
  });

  it('is not what anybody else says, nor a host that is not served', () => {
    const named = { host, 'x-forwarded-host': 'gatehouse.example', 'x-forwarded-proto': 'https' };
    assert.equal(originFor(named), 'http://gatehouse.example:8080');
    for (const other of ['attacker.example', 'gatehouse.example/x', 'a@gatehouse.example', ''])
      assert.equal(originFor({ host, 'x-forwarded-host': other }, proxy), 'http://gatehouse.example:8080');
  });
});
