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

// The configurations of docs/deployment.md, run by nginx and by Caddy where they are installed.

const API = 'gatehouse.example.com';
const GATEWAY = 'gateway.example.com';
const ACCOUNT = { email: 'ada@example.com', password: 'correct horse battery staple' };
const PORT = 8_443;
const ADMIN_PORT = 2_019;
const CALLER = '127.0.0.2';
const root = join(import.meta.dirname, '../..');

const chunk = (content: string) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`;

/** The configuration in the section of this name. */
async function documented(section: string): Promise<string> {
  const page = await readFile(join(root, 'docs/deployment.md'), 'utf8');
  const [, text = ''] = page.split(`\n### ${section}\n`);
  return /^```\w*\n([\s\S]*?)^```/m.exec(text)?.[1] ?? assert.fail('the configuration was not found');
}

interface Ports {
  readonly api: number;
  readonly gateway: number;
}

interface Relay {
  readonly name: string;
  readonly command: readonly [program: string, ...args: string[]];
  /** Writes the documented configuration for this address, and returns how the relay is started with it. */
  configure(
    directory: string,
    address: string,
    ports: Ports,
  ): Promise<readonly [program: string, ...args: string[]]>;
  /** The command that makes it read its configuration again; nginx is reloaded by a drill. */
  reload?(directory: string, address: string): readonly [program: string, ...args: string[]];
}

const nginx: Relay = {
  name: 'nginx',
  command: ['nginx', '-v'],
  async configure(directory, address, ports) {
    const folder = (name: string) => join(directory, name);
    const sites = (await documented('nginx'))
      .replaceAll('127.0.0.1:8080', `127.0.0.1:${ports.api}`)
      .replaceAll('127.0.0.1:8081', `127.0.0.1:${ports.gateway}`)
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
    return ['nginx', '-p', directory, '-c', folder('nginx.conf')];
  },
};

const caddy: Relay = {
  name: 'Caddy',
  command: ['caddy', 'version'],
  async configure(directory, address, ports) {
    const certificate = `tls ${join(directory, 'fullchain.pem')} ${join(directory, 'privkey.pem')}`;
    const sites = (await documented('Caddy'))
      .replaceAll('127.0.0.1:8080', `127.0.0.1:${ports.api}`)
      .replaceAll('127.0.0.1:8081', `127.0.0.1:${ports.gateway}`)
      .replaceAll(/^(\S+\.example\.com) \{$/gm, `$1:${PORT} {\n\tbind ${address}\n\t${certificate}`);
    const path = join(directory, 'Caddyfile');
    // No address of the machine but the one of the test.
    await writeFile(path, `{\n\tadmin ${address}:${ADMIN_PORT}\n\tauto_https disable_redirects\n}\n${sites}`);
    return ['caddy', 'run', '--config', path, '--adapter', 'caddyfile'];
  },
  reload: (directory, address) => [
    'caddy',
    ...['reload', '--config', join(directory, 'Caddyfile'), '--adapter', 'caddyfile'],
    ...['--address', `${address}:${ADMIN_PORT}`, '--force'],
  ],
};

const isInstalled = ([program, ...args]: Relay['command']) => spawnSync(program, args).status === 0;

for (const relay of [nginx, caddy])
  describe(`behind ${relay.name}`, {
    skip: isInstalled(relay.command) ? false : `${relay.name} is not installed`,
  }, () => {
    const stack = new AsyncDisposableStack();
    const certificate = createCertificate({ names: [API, GATEWAY] });
    // Another program would have to use the same of 16 million addresses.
    const address = `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${randomInt(1, 255)}`;
    let directory: string;
    let service: ServiceProcess;
    let provider: MockProvider;
    let secret: string;
    /** The log of the relay, for a test that fails. */
    let told = '';
    const at = (name: string): TlsAddress => ({ host: address, port: PORT, name, ca: certificate.cert });

    before(async () => {
      directory = await mkdtemp(join(tmpdir(), 'gatehouse-relay-'));
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
      await startRelay();
    });
    after(() => stack.disposeAsync());

    const environment = () => ({ PATH: process.env['PATH'] ?? '', HOME: directory });

    async function startRelay(): Promise<void> {
      await writeFile(join(directory, 'fullchain.pem'), certificate.cert);
      await writeFile(join(directory, 'privkey.pem'), certificate.key);
      const ports = { api: service.apiPort, gateway: service.gatewayPort };
      const [program, ...args] = await relay.configure(directory, address, ports);
      const child: ChildProcess = spawn(program, args, {
        env: environment(),
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      const ended = once(child, 'exit');
      child.stderr?.on('data', (data) => {
        told += data;
      });
      stack.defer(async () => {
        child.kill('SIGTERM');
        await ended;
      });
      await eventually(async () => {
        assert.equal(child.exitCode, null, told);
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
      const { events } = JSON.parse(
        (await askHttps(api, { path: '/api/activity', headers: { cookie } })).text,
      );
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

    /** Asks for a stream whose second part is not sent before `between` has returned, and expects all of it. */
    async function streamInTwoParts(between: () => void): Promise<void> {
      const mayGoOn = Promise.withResolvers<void>();
      provider.script = async (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        await flush(response, chunk('first'));
        // A proxy that keeps the first piece back would wait here for ever.
        await mayGoOn.promise;
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
        const isFirst = !text.includes('first');
        text += piece;
        if (isFirst && text.includes('first')) {
          between();
          mayGoOn.resolve();
        }
      }
      assert.match(text, /first[\s\S]*second[\s\S]*\[DONE\]/, `${text}\n${told}`);
    }

    it('the first token of a stream arrives while the provider has not sent the second', () =>
      streamInTwoParts(() => undefined));

    it('a body that is too large is refused by the gateway, in the format of the endpoint', async () => {
      const answer = await askHttps(at(GATEWAY), {
        path: '/v1/chat/completions',
        headers: { authorization: `Bearer ${secret}`, expect: '100-continue' },
        body: { model: 'mock/model', messages: [{ role: 'user', content: 'x'.repeat(33 * 1024 * 1024) }] },
      });
      assert.equal(answer.status, 413);
      assert.match(JSON.parse(answer.text).error.message, /larger|large/);
    });

    it('a name that is not served is refused', async () => {
      const answer = await askHttps(at(API), { path: '/api/auth/me', headers: { host: 'evil.example' } });
      // A relay that passes it on gets the answer of the API.
      assert.ok(answer.status === 421 || answer.text === '', `${answer.status} ${answer.text}`);
    });

    // Last, because it then closes connections that callers keep.
    it(
      'a stream goes on while it reads its configuration again',
      {
        skip: relay.reload ? false : 'a drill reloads it',
      },
      () =>
        streamInTwoParts(() => {
          const [program, ...args] = relay.reload?.(directory, address) ?? assert.fail('it has a command');
          const { status, stderr } = spawnSync(program, args, { env: environment(), encoding: 'utf8' });
          assert.equal(status, 0, stderr);
        }),
    );
  });

describe('the Caddyfile of the containers', {
  skip: isInstalled(caddy.command) ? false : 'Caddy is not installed',
}, () => {
  it('is one that this Caddy knows', () => {
    const path = join(root, 'deploy/compose/Caddyfile');
    const { status, stderr } = spawnSync('caddy', ['adapt', '--config', path, '--adapter', 'caddyfile'], {
      env: { PATH: process.env['PATH'] ?? '', GATEHOUSE_HOST: API, GATEWAY_HOST: GATEWAY },
      encoding: 'utf8',
    });
    assert.equal(status, 0, stderr);
  });
});
