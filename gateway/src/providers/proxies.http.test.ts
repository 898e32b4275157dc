import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { StatedProviderFlags } from '@gatehouse/contract';
import { proxiesFor } from '@gatehouse/http/outgoing';
import { createCertificate, PROXY_CREDENTIALS, startProxy, type TestProxy } from '@gatehouse/http/testing';
import type { Database } from '@gatehouse/store';
import { createTestDatabase } from '@gatehouse/store/testing';
import { waitUntil } from '../journal/testing/wait-until.ts';
import {
  addRoute,
  type IssuedKey,
  issueKey,
  type MockProvider,
  startMockProvider,
  startTestGateway,
  type TestGateway,
} from '../testing/index.ts';

const ANSWER = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
});

describe('a provider behind a proxy', () => {
  const stack = new AsyncDisposableStack();
  const name = 'provider.example';
  const server = createCertificate({ names: [name] });
  const client = createCertificate({ names: ['gateway'] });
  let database: Database;
  let key: IssuedKey;
  let provider: MockProvider;
  let folder: string;

  before(async () => {
    ({ database } = stack.use(await createTestDatabase()));
    key = await issueKey(database);
    provider = stack.use(await startMockProvider());
    folder = await mkdtemp(join(tmpdir(), 'gatehouse-proxies-'));
    stack.defer(() => rm(folder, { recursive: true }));
    const files = { 'ca.pem': server.cert, 'cert.pem': client.cert, 'key.pem': client.key };
    for (const [file, content] of Object.entries(files)) await writeFile(join(folder, file), content);
  });
  after(() => stack.disposeAsync());

  const portOf = ({ baseUrl }: MockProvider) => Number(new URL(baseUrl).port);
  const gatewayBehind = (proxy: TestProxy): Promise<TestGateway> =>
    startTestGateway(database, {
      proxyOf: proxiesFor({ http: proxy.url, https: proxy.url, exceptions: undefined }),
    });
  let routes = 0;
  /** Asks for a route to a provider of its own at this address. */
  const ask = async (gateway: TestGateway, baseUrl: string, flags: StatedProviderFlags = {}) => {
    routes += 1;
    const id = `proxied/${routes}`;
    await addRoute(database, { id, provider: `proxied-${routes}`, baseUrl, flags });
    return gateway.post('/v1/chat/completions', key.secret, {
      model: id,
      messages: [{ role: 'user', content: 'hi' }],
    });
  };
  const startTls = async (options: ServerOptions): Promise<{ port: number; asked: string[] }> => {
    const asked: string[] = [];
    const listener: Server = createServer(
      { ...options, key: server.key, cert: server.cert },
      (request, response) => {
        asked.push(`${request.method} ${request.headers.host}${request.url}`);
        request.resume().on('end', () => response.setHeader('content-type', 'application/json').end(ANSWER));
      },
    );
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    stack.defer(() => {
      listener.closeAllConnections();
      listener.close();
    });
    return { port: (listener.address() as AddressInfo).port, asked };
  };

  it('with http is asked through it, by the whole address and with the proxy’s credentials', async () => {
    await using proxy = await startProxy(portOf(provider));
    await using gateway = await gatewayBehind(proxy);
    const answer = await ask(gateway, `http://${name}/v1`);
    assert.equal(answer.status, 200);
    assert.deepEqual(proxy.asked, [`POST http://${name}/v1/chat/completions`]);
    assert.deepEqual(proxy.credentials, [PROXY_CREDENTIALS]);
    const { headers } = provider.asked.at(-1) ?? {};
    assert.deepEqual([headers?.['host'], headers?.['proxy-authorization']], [name, undefined]);
  });

  it('with https is asked through a tunnel, whose ends are the gateway and the provider, by their certificates', async () => {
    const { port, asked } = await startTls({ requestCert: true, ca: client.cert });
    await using proxy = await startProxy(port);
    await using gateway = await gatewayBehind(proxy);
    const answer = await ask(gateway, `https://${name}:8443/v1`, {
      caFile: join(folder, 'ca.pem'),
      clientCertFile: join(folder, 'cert.pem'),
      clientKeyFile: join(folder, 'key.pem'),
    });
    assert.equal(answer.status, 200, await answer.text());
    assert.deepEqual(proxy.asked, [`CONNECT ${name}:8443`]);
    assert.deepEqual(proxy.credentials, [PROXY_CREDENTIALS]);
    assert.deepEqual(asked, [`POST ${name}:8443/v1/chat/completions`]);
    const refused = await ask(gateway, `https://${name}:8443/v1`, { caFile: join(folder, 'ca.pem') });
    assert.equal(refused.status, 502);
    const untrusted = await ask(gateway, `https://${name}:8443/v1`);
    assert.equal(untrusted.status, 502);
    assert.equal(asked.length, 1);
  });

  it('has the proxy that its entry names, or none', async () => {
    await using proxy = await startProxy(portOf(provider));
    await using other = await startProxy(portOf(provider));
    await using gateway = await gatewayBehind(proxy);
    const flags = { proxy: `http://127.0.0.1:${other.url.port}` };
    assert.equal((await ask(gateway, `http://${name}/v1`, flags)).status, 200);
    assert.deepEqual([proxy.asked.length, other.asked.length], [0, 1]);
    const direct = await ask(gateway, 'http://name.invalid/v1', { proxy: 'none' });
    assert.equal(direct.status, 502);
    assert.deepEqual([proxy.asked.length, other.asked.length], [0, 1]);
    // This machine is not reached through a proxy, not even through one that the entry names.
    assert.equal((await ask(gateway, provider.baseUrl)).status, 200);
    assert.equal((await ask(gateway, provider.baseUrl, flags)).status, 200);
    assert.deepEqual([proxy.asked.length, other.asked.length], [0, 1]);
  });

  for (const scheme of ['http', 'https'])
    it(`with ${scheme} cannot be reached where the proxy refuses: 502, and the log of attempts says why`, async () => {
      await using proxy = await startProxy(portOf(provider), { refusesWith: 407 });
      await using gateway = await gatewayBehind(proxy);
      const before = provider.asked.length;
      const answer = await ask(gateway, `${scheme}://${name}/v1`);
      assert.equal(answer.status, 502);
      assert.match(failureOf(gateway), /^could not be reached: the proxy answered 407/);
      assert.equal(provider.asked.length, before);
    });

  it('cannot be reached where the proxy is gone, or takes the connection and says nothing', async () => {
    const silent = createTcpServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    await using proxy = await startProxy(1);
    await using gateway = await gatewayBehind(proxy);
    const gone = await ask(gateway, `https://${name}/v1`, { proxy: 'http://127.0.0.1:1' });
    assert.equal(gone.status, 502);
    assert.match(failureOf(gateway), /^could not be reached: the connection was refused/);
    const late = await ask(gateway, `https://${name}/v1`, { proxy: `http://127.0.0.1:${port}` });
    assert.equal(late.status, 502);
    silent.close();
  });

  it('gets new certificates on new connections, without a restart', async () => {
    const own = createCertificate({ names: [name] });
    const { port, asked } = await startTls({});
    const caFile = join(folder, 'renewed.pem');
    await writeFile(caFile, own.cert);
    await using proxy = await startProxy(port);
    await using gateway = await gatewayBehind(proxy);
    const send = async () => (await ask(gateway, `https://${name}/v1`, { caFile })).status;
    assert.equal(await send(), 502);
    // What cannot be used changes nothing.
    await writeFile(caFile, 'half a file');
    await logs(gateway, 'provider.files_unusable');
    await writeFile(caFile, server.cert);
    await logs(gateway, 'provider.files_renewed');
    assert.equal(await send(), 200);
    assert.equal(asked.length, 1);
  });
});

/** Why the last request failed. */
function failureOf({ logged }: TestGateway): string {
  return String(logged.at(-1)?.['failure']);
}

function logs({ logged }: TestGateway, event: string): Promise<void> {
  return waitUntil(event, () => logged.some((line) => line['event'] === event));
}
