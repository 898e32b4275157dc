import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Secret } from '@gatehouse/contract';
import { proxiesFor } from '@gatehouse/http/outgoing';
import { PROXY_CREDENTIALS, startProxy, type TestProxy } from '@gatehouse/http/testing';
import { startAlertReceiver } from '../testing/alert-receiver.ts';
import { sendWebhook, type WebhookOptions } from './send-webhook.ts';

const MESSAGE = { id: 'msg_1', body: '{}', secret: new Secret('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw') };

describe('a webhook behind a proxy', () => {
  const send = (proxy: TestProxy, url: string, options: Partial<WebhookOptions> = {}) =>
    sendWebhook(url, MESSAGE, {
      listedHosts: new Set(),
      proxyOf: proxiesFor({ http: proxy.url, https: proxy.url, exceptions: undefined }),
      signal: new AbortController().signal,
      ...options,
    });

  it('is sent through it by the address that was checked, and under its name', async () => {
    await using receiver = await startAlertReceiver();
    await using proxy = await startProxy(Number(new URL(receiver.url).port));
    // The receiver speaks no TLS: what counts is what the proxy was asked for.
    const addressesOf = async (name: string) => (name === 'hooks.example' ? ['8.8.8.8', '2001:4860::1'] : []);
    await assert.rejects(send(proxy, 'https://hooks.example/a', { addressesOf }), /cannot be reached/);
    assert.deepEqual(proxy.asked, ['CONNECT 8.8.8.8:443']);
    assert.deepEqual(proxy.credentials, [PROXY_CREDENTIALS]);
  });

  it('is not sent where the name leads to an address that is not public, or nowhere', async () => {
    await using proxy = await startProxy(1);
    const to = (...addresses: string[]) => ({ addressesOf: async () => addresses });
    await assert.rejects(send(proxy, 'https://hooks.example', to('8.8.8.8', '10.0.0.1')), /is not public/);
    await assert.rejects(send(proxy, 'https://hooks.example', to()), /has no address/);
    assert.deepEqual(proxy.asked, []);
  });

  it('to a listed host is sent by its name, which the proxy resolves', async () => {
    await using receiver = await startAlertReceiver();
    await using proxy = await startProxy(Number(new URL(receiver.url).port));
    const listedHosts = new Set(['hooks.internal']);
    await send(proxy, 'http://hooks.internal/a?b=1', { listedHosts });
    assert.deepEqual(proxy.asked, ['POST http://hooks.internal/a?b=1']);
    assert.equal(receiver.received[0]?.headers['host'], 'hooks.internal');
    await using refusing = await startProxy(1, { refusesWith: 403 });
    await assert.rejects(
      send(refusing, 'https://hooks.internal/', { listedHosts }),
      /the proxy does not lead to the receiver \(ERR_PROXY_TUNNEL\)/,
    );
  });
});
