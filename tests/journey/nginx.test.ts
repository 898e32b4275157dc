import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { flush, type MockProvider, startMockProvider } from '@gatehouse/gateway/testing';
import { createCertificate } from '@gatehouse/http/testing';
import { askHttps, cookiesOf, openHttps, type TlsAddress } from '../https-client.ts';
import { eventually, type ServiceProcess, startService } from '../service-process.ts';

// The configuration of docs/deployment.md, run by nginx where it is installed.

const API = 'gatehouse.example.com';
const GATEWAY = 'gateway.example.com';
const ACCOUNT = { email: 'ada@example.com', password: 'correct horse battery staple' };
const PORT = 8_443;
const CALLER = '127.0.0.2';
const root = join(import.meta.dirname, '../..');

const isInstalled = spawnSync('nginx', ['-v']).status === 0;

const chunk = (content: string) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`;

async function documented(): Promise<string> {
  const page = await readFile(join(root, 'docs/deployment.md'), 'utf8');
  return /^```nginx\n([\s\S]*?)^```/m.exec(page)?.[1] ?? assert.fail('the configuration was not found');
}

describe('behind nginx', { skip: isInstalled ? false : 'nginx is not installed' }, () => {
  const stack = new AsyncDisposableStack();
  const certificate = createCertificate({ names: [API, GATEWAY] });
  // Another program would have to use the same of 16 million addresses.
  const address = `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${randomInt(1, 255)}`;
  let service: ServiceProcess;
  let provider: MockProvider;
  let secret: string;
  const at = (name: string): TlsAddress => ({ host: address, port: PORT, name, ca: certificate.cert });

  before(async () => {
    const directory = await mkdtemp(join(tmpdir(), 'gatehouse-nginx-'));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    provider = stack.use(await startMockProvider());
    const catalogue = join(directory, 'catalogue.yaml');
    await writeFile(
      catalogue,
      `providers: { mock: { protocol: openai, base_url: "${provider.baseUrl}" } }
routes:
  - { id: mock/model, provider: mock, upstream_model: m, price_pkr_per_million: { input: 70, output: 560 }, max_output_tokens: 1000 }
`,
    );
    service = stack.use(
      await startService({
        DATA_DIR: join(directory, 'data'),
        CATALOGUE: catalogue,
        GATEHOUSE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
        ALLOWED_HOSTS: `${API},${GATEWAY}`,
        TRUSTED_PROXY_HOPS: '1',
      }),
    );
    await startNginx(directory);
  });
  after(() => stack.disposeAsync());

  async function startNginx(directory: string): Promise<void> {
    const folder = (name: string) => join(directory, name);
    await writeFile(folder('fullchain.pem'), certificate.cert);
    await writeFile(folder('privkey.pem'), certificate.key);
    const sites = (await documented())
      .replaceAll('127.0.0.1:8080', `127.0.0.1:${service.apiPort}`)
      .replaceAll('127.0.0.1:8081', `127.0.0.1:${service.gatewayPort}`)
      .replaceAll('listen 443', `listen ${address}:${PORT}`)
      .replaceAll('/etc/nginx/tls', directory);
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder(name)};`,
    );
    await writeFile(
      folder('nginx.conf'),
      `daemon off; master_process off; worker_processes 1; pid ${folder('pid')}; error_log stderr warn;
events {}
http { access_log off; ${temporary.join(' ')}
${sites}}
`,
    );
    const nginx: ChildProcess = spawn('nginx', ['-p', directory, '-c', folder('nginx.conf')], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const ended = once(nginx, 'exit');
    let told = '';
    nginx.stderr?.on('data', (data) => {
      told += data;
    });
    stack.defer(async () => {
      nginx.kill('SIGTERM');
      await ended;
    });
    await eventually(async () => {
      assert.equal(nginx.exitCode, null, told);
      const socket = connect(PORT, address);
      const isOpen = await new Promise<boolean>((resolve) => {
        socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
      });
      socket.destroy();
      return isOpen || undefined;
    });
  }

  it('a person signs in, and the activity log has the address of the person', async () => {
    const api = at(API);
    const registered = await askHttps(api, {
      path: '/api/auth/register',
      body: { ...ACCOUNT, organization_name: 'Acme' },
    });
    assert.equal(registered.status, 201, registered.text);
    const signedIn = await askHttps(api, {
      path: '/api/auth/login',
      body: ACCOUNT,
      localAddress: CALLER,
      headers: { origin: `https://${API}`, 'sec-fetch-site': 'same-origin', 'x-forwarded-for': '6.6.6.6' },
    });
    assert.deepEqual([signedIn.status, signedIn.headers['x-gatehouse-hint']], [200, undefined]);
    const cookie = cookiesOf(signedIn);
    const { events } = JSON.parse((await askHttps(api, { path: '/api/activity', headers: { cookie } })).text);
    assert.equal(events[0].source_ip, CALLER);
    const projects = await askHttps(api, { path: '/api/projects', headers: { cookie } });
    const project_id = JSON.parse(projects.text).projects[0].id;
    const minted = await askHttps(api, {
      path: '/api/keys',
      headers: { cookie },
      body: { project_id, name: 'k' },
    });
    secret = JSON.parse(minted.text).api_key;
  });

  it('the first token of a stream arrives while the provider has not sent the second', async () => {
    const firstArrived = Promise.withResolvers<void>();
    provider.script = async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      await flush(response, chunk('first'));
      // A proxy that keeps the first piece back would wait here for ever.
      await firstArrived.promise;
      await flush(response, chunk('second'));
      response.end('data: [DONE]\n\n');
    };
    const answer = await openHttps(at(GATEWAY), {
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${secret}` },
      body: { model: 'mock/model', stream: true, messages: [{ role: 'user', content: 'Hello' }] },
    });
    assert.equal(answer.statusCode, 200);
    let text = '';
    for await (const piece of answer) {
      text += piece;
      if (text.includes('first') && !text.includes('second')) firstArrived.resolve();
    }
    assert.match(text, /first[\s\S]*second[\s\S]*\[DONE\]/);
  });

  it('a body that is too large is refused by the gateway, in the format of the endpoint', async () => {
    const answer = await askHttps(at(GATEWAY), {
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${secret}`, expect: '100-continue' },
      body: { model: 'mock/model', messages: [{ role: 'user', content: 'x'.repeat(17 * 1024 * 1024) }] },
    });
    assert.equal(answer.status, 413);
    assert.match(JSON.parse(answer.text).error.message, /larger|large/);
  });

  it('a name that is not served is refused', async () => {
    const answer = await askHttps(at(API), { path: '/api/auth/me', headers: { host: 'evil.example' } });
    assert.equal(answer.status, 421);
  });
});
