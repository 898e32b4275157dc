import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { PROXY_CREDENTIALS, startProxy } from '../testing/index.ts';
import { createFetch } from './proxied-fetch.ts';
import { direct, proxiesFor } from './proxies.ts';
import { proxyAgent } from './proxy-agent.ts';

describe('a request through a proxy', () => {
  const withServer = async (work: (port: number) => Promise<void>) => {
    const server = createServer((request, response) =>
      response.end(`${request.headers.host} ${request.headers['proxy-authorization']}`),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      await work((server.address() as AddressInfo).port);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  };
  const proxyOf = (proxy: URL) => proxiesFor({ http: proxy, https: proxy, exceptions: undefined });

  it('of fetch goes out with the credentials of the proxy, which the server does not see', () =>
    withServer(async (port) => {
      await using proxy = await startProxy(port);
      const answer = await createFetch(proxyOf(proxy.url))('http://issuer.example/keys', {
        redirect: 'error',
      });
      assert.equal(await answer.text(), 'issuer.example undefined');
      assert.deepEqual(proxy.asked, ['GET http://issuer.example/keys']);
      assert.deepEqual(proxy.credentials, [PROXY_CREDENTIALS]);
    }));

  it('of fetch is rejected where the proxy refuses', () =>
    withServer(async (port) => {
      await using proxy = await startProxy(port, { refusesWith: 407 });
      await assert.rejects(createFetch(proxyOf(proxy.url))('https://issuer.example/keys'));
      assert.deepEqual(proxy.asked, ['CONNECT issuer.example:443']);
    }));

  it('of node:http goes out the same way', () =>
    withServer(async (port) => {
      await using proxy = await startProxy(port);
      const url = new URL('http://collector.example/v1/traces');
      const [answer] = await once(get(url, { agent: proxyAgent(url, proxyOf(proxy.url)) }), 'response');
      answer.resume();
      assert.equal(answer.statusCode, 200);
      assert.deepEqual(proxy.asked, ['GET http://collector.example/v1/traces']);
      assert.deepEqual(proxy.credentials, [PROXY_CREDENTIALS]);
    }));

  it('is direct where no proxy leads to the address', () =>
    withServer(async (port) => {
      await using proxy = await startProxy(port);
      const answer = await createFetch(proxyOf(proxy.url))(`http://127.0.0.1:${port}/`);
      assert.equal(answer.status, 200);
      assert.equal(proxyAgent(new URL('http://a.example'), direct), undefined);
      assert.deepEqual(proxy.asked, []);
    }));
});
