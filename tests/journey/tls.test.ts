import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createCertificate } from '@gatehouse/http/testing';
import { askHttps, cookiesOf, type TlsAddress } from '../https-client.ts';
import { eventually, type ServiceProcess, startService } from '../service-process.ts';

// A service with a certificate of its own, and its gateway in two processes.

const ACCOUNT = { email: 'ada@example.com', password: 'correct horse battery staple' };
const NAME = 'gatehouse.test';
const CONNECTIONS = 16;

describe('TLS without a proxy', () => {
  const stack = new AsyncDisposableStack();
  let service: ServiceProcess;
  let files: { TLS_CERT: string; TLS_KEY: string };
  const first = createCertificate({ names: [NAME] });
  const second = createCertificate({ names: [NAME] });
  const ca = Buffer.concat([first.cert, second.cert]);
  const at = (port: number): TlsAddress => ({ host: '127.0.0.1', port, name: NAME, ca });
  const write = async ({ cert, key }: typeof first) => {
    await writeFile(files.TLS_CERT, cert);
    await writeFile(files.TLS_KEY, key);
  };

  before(async () => {
    const directory = await mkdtemp(join(tmpdir(), 'gatehouse-tls-'));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    files = { TLS_CERT: join(directory, 'cert.pem'), TLS_KEY: join(directory, 'key.pem') };
    await write(first);
    const data = { DATA_DIR: join(directory, 'data'), ALLOWED_HOSTS: NAME, GATEWAY_PROCESSES: '2' };
    service = stack.use(await startService({ ...files, ...data }));
  });
  after(() => stack.disposeAsync());

  it('serves a sign-in whose cookies come back, and a model request', async () => {
    const api = at(service.apiPort);
    const gateway = at(service.gatewayPort);
    assert.match(service.told(), /API +https:\/\/127\.0\.0\.1:\d+\/api\n +Gateway +https:/);
    const registered = await askHttps(api, {
      path: '/api/auth/register',
      body: { ...ACCOUNT, organization_name: 'Acme' },
    });
    assert.equal(registered.status, 201);
    const signedIn = await askHttps(api, { path: '/api/auth/login', body: ACCOUNT });
    assert.deepEqual([signedIn.status, signedIn.headers['x-gatehouse-hint']], [200, undefined]);
    const cookie = cookiesOf(signedIn);
    const projects = await askHttps(api, { path: '/api/projects', headers: { cookie } });
    const project_id = JSON.parse(projects.text).projects[0].id;
    const minted = await askHttps(api, {
      path: '/api/keys',
      headers: { cookie },
      body: { project_id, name: 'k' },
    });
    const { api_key } = JSON.parse(minted.text);
    const completed = await askHttps(gateway, {
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${api_key}` },
      body: { model: 'demo/echo', messages: [{ role: 'user', content: 'Hello' }] },
    });
    assert.deepEqual([completed.status, /Hello/.test(completed.text)], [200, true]);
    // Without a cookie over TLS the cause is another, so there is no hint.
    const missing = await askHttps(api, { path: '/api/auth/me' });
    assert.deepEqual([missing.status, missing.headers['x-gatehouse-hint']], [401, undefined]);
  });

  it('takes a renewed certificate in every process, and keeps open connections', async () => {
    const agents = Array.from({ length: CONNECTIONS }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
    const askAll = () =>
      Promise.all(agents.map((agent) => askHttps(at(service.gatewayPort), { path: '/healthz', agent })));
    const serialOf = async (port: number) => (await askHttps(at(port), { path: '/healthz' })).serial;
    const before = await askAll();
    const old = before[0]?.serial;
    await write(second);
    const isRenewed = ({ event }: Record<string, unknown>) => event === 'tls.certificate_renewed';
    // The API's process and both of the gateway.
    await eventually(async () => (service.logLines.filter(isRenewed).length >= 3 ? true : undefined));
    assert.notEqual(await serialOf(service.apiPort), old);
    for (let n = 0; n < CONNECTIONS; n += 1) assert.notEqual(await serialOf(service.gatewayPort), old);
    const kept = await askAll();
    assert.deepEqual(
      kept.map(({ status, serial }) => [status, serial]),
      before.map(({ serial }) => [200, serial]),
    );
    for (const agent of agents) agent.destroy();
  });
});
