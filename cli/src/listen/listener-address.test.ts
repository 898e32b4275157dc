import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readConfig } from '../config/config.ts';
import { gatewayUrl, isEveryAddress } from './listener-address.ts';

describe('where clients reach the gateway', () => {
  for (const host of ['0.0.0.0', '0', '::', '::0', '0:0:0:0:0:0:0:0', '::ffff:0.0.0.0'])
    it(`is unknown if it listens on ${host}`, () => {
      assert.equal(isEveryAddress(host), true);
      assert.equal(gatewayUrl({ host, publicGatewayUrl: undefined }, 8081), undefined);
    });

  for (const [host, url] of [
    ['127.0.0.1', 'http://127.0.0.1:8081'],
    ['localhost', 'http://localhost:8081'],
    ['10.0.0.0', 'http://10.0.0.0:8081'],
    ['::1', 'http://[::1]:8081'],
    ['llm.internal', 'http://llm.internal:8081'],
  ] as const)
    it(`is where it listens on ${host}`, () =>
      assert.equal(gatewayUrl({ host, publicGatewayUrl: undefined }, 8081), url));

  it('is unknown until it listens', () =>
    assert.equal(gatewayUrl({ host: '127.0.0.1', publicGatewayUrl: undefined }, undefined), undefined));

  for (const [text, url] of [
    ['https://llm.example.com', 'https://llm.example.com'],
    ['https://llm.example.com/', 'https://llm.example.com'],
    ['https://llm.example.com/v1', 'https://llm.example.com'],
    ['https://llm.example.com/v1/', 'https://llm.example.com'],
    ['http://10.0.0.1:9000/gateway//', 'http://10.0.0.1:9000/gateway'],
    ['HTTPS://LLM.Example.com/team/v1', 'https://llm.example.com/team'],
  ] as const)
    it(`is ${url} if PUBLIC_GATEWAY_URL is ${text}`, () =>
      assert.equal(gatewayUrl(readConfig({ PUBLIC_GATEWAY_URL: text }), 8081), url));

  for (const text of [
    'llm.example.com',
    'ftp://a',
    'https://user:pw@a',
    'https://a?b',
    'https://a/#b',
    'javascript:0',
  ])
    it(`does not start with PUBLIC_GATEWAY_URL ${text}`, () =>
      assert.throws(() => readConfig({ PUBLIC_GATEWAY_URL: text }), /^ConfigError: PUBLIC_GATEWAY_URL is /));
});
