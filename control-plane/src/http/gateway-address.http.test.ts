import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { duringTests } from '../testing/during-tests.ts';
import { startTestApi } from '../testing/test-api.ts';
import type { GatewayAddress } from './gateway-address.ts';

describe('what the API says about the gateway', () => {
  const address: { -readonly [Member in keyof GatewayAddress]: GatewayAddress[Member] } = {
    url: () => undefined,
    port: () => undefined,
  };
  const api = duringTests(() =>
    startTestApi({ gateway: { url: () => address.url(), port: () => address.port() } }),
  );

  const errorOf = async (method: string, path: string) => {
    const { status, headers, text } = await api.anonymous().raw({ method, path });
    assert.equal(status, 404, path);
    assert.match(String(headers['content-type']), /^application\/json/);
    const { error, ...others } = JSON.parse(text);
    assert.deepEqual(others, {});
    return error;
  };

  it('404 below /v1 with the address of the gateway as GET /service has it', async () => {
    address.url = () => 'https://gw.example.com/ai';
    for (const [method, path] of [
      ['POST', '/v1/chat/completions'],
      ['GET', '/v1/models?limit=1'],
      ['POST', '/v1'],
      ['DELETE', '/v1/'],
    ] as const)
      assert.equal(
        await errorOf(method, path),
        'Path not found. This is the API; model requests go to the gateway at https://gw.example.com/ai/v1.',
      );
  });

  it('404 below /v1 with the port where only that is known', async () => {
    address.url = () => undefined;
    address.port = () => 9_001;
    assert.equal(
      await errorOf('POST', '/v1/messages'),
      'Path not found. This is the API; model requests go to the gateway on port 9001, below /v1.',
    );
    address.port = () => undefined;
    assert.equal(
      await errorOf('POST', '/v1/messages'),
      'Path not found. This is the API; model requests go to the gateway, which has an address of its own.',
    );
  });

  it('200 at / with the address of the gateway', async () => {
    address.url = () => 'https://gw.example.com/ai';
    const { status, headers, text } = await api.anonymous().raw({ method: 'GET', path: '/' });
    assert.equal(status, 200);
    assert.equal(headers['content-type'], 'text/plain; charset=utf-8');
    assert.match(text, /^Model requests go to the gateway at https:\/\/gw\.example\.com\/ai\/v1\.$/m);
    assert.match(text, /^The dashboard is not served here/m);
  });

  it('404 without it elsewhere', async () => {
    for (const path of ['/v1x', '/v2/models', '/api/v1/models', '/models'])
      assert.equal(await errorOf('POST', path), 'Path not found.');
  });
});
