import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type IncomingHttpHeaders, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { readDashboard } from '@gatehouse/control-plane';
import { startTestApi, type TestApi } from '@gatehouse/control-plane/testing';

// The examples of docs/dashboard.md, run as they are there but for their addresses and paths.

const ROOT = join(import.meta.dirname, '../..');
const DIST = join(ROOT, 'dashboard/dist');
const HOST = 'gatehouse.example.com';

interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

interface Asked {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  /** Past the relay. */
  readonly isDirect?: boolean;
}

const SAME = [
  'cache-control',
  'content-security-policy',
  'content-type',
  'cross-origin-opener-policy',
  'cross-origin-resource-policy',
  'referrer-policy',
  'strict-transport-security',
  'x-content-type-options',
];

interface Relay {
  readonly name: string;
  readonly isInstalled: boolean;
  /** Starts it with the example, for the API on this port, listening on the socket. Resolves once it listens. */
  start(example: string, paths: Paths): Promise<ChildProcess>;
}

interface Paths {
  readonly folder: string;
  readonly site: string;
  readonly socket: string;
  readonly apiPort: number;
}

const isInstalled = (command: string, ...args: string[]) => spawnSync(command, args).status === 0;

/** The process, once it has written a line that matches. */
async function untilLine(child: ChildProcess, pattern: RegExp): Promise<ChildProcess> {
  const lines: string[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<ChildProcess>();
  child.once('exit', (code) => reject(new Error(`ended with ${code}: ${lines.join('\n')}`)));
  createInterface({ input: child.stderr as NodeJS.ReadableStream }).on('line', (line) => {
    lines.push(line);
    if (pattern.test(line)) resolve(child);
  });
  return promise;
}

/** Fails where the example no longer has what the test must change. */
function replaced(text: string, ...pairs: readonly (readonly [string | RegExp, string])[]): string {
  return pairs.reduce((result, [from, to]) => {
    const next = result.replace(from, () => to);
    assert.notEqual(next, result, `the example lacks ${from}`);
    return next;
  }, text);
}

const nginx: Relay = {
  name: 'nginx',
  isInstalled: isInstalled('nginx', '-v'),
  async start(example, { folder, site, socket, apiPort }) {
    const server = replaced(
      example,
      ['listen 443 ssl', `listen unix:${socket}`],
      [/ {4}ssl_certificate .*\n/, ''],
      [/ {4}ssl_certificate_key .*\n/, ''],
      ['/srv/gatehouse', site],
      ['127.0.0.1:8080', `127.0.0.1:${apiPort}`],
    );
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
    const configuration = `daemon off;
${process.getuid?.() === 0 ? 'user root;' : ''}
worker_processes 1;
pid ${join(folder, 'nginx.pid')};
error_log stderr notice;
events {}
http {
types { text/html html; text/javascript js; text/css css; font/woff2 woff2; }
charset utf-8;
charset_types text/html text/javascript text/css;
access_log off;
${temporary.map((name) => `${name}_temp_path ${join(folder, name)};`).join('\n')}
${server}
}
`;
    const path = join(folder, 'nginx.conf');
    await writeFile(path, configuration);
    const child = spawn('nginx', ['-p', folder, '-e', 'stderr', '-c', path], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    return untilLine(child, /start worker process \d/);
  },
};

const caddy: Relay = {
  name: 'Caddy',
  isInstalled: isInstalled('caddy', 'version'),
  async start(example, { folder, site, socket, apiPort }) {
    const server = replaced(
      example,
      [HOST, `http://${HOST}`],
      ['handle /api/*', `bind unix/${socket}\n\thandle /api/*`],
      ['/srv/gatehouse', site],
      ['127.0.0.1:8080', `127.0.0.1:${apiPort}`],
    );
    const path = join(folder, 'Caddyfile');
    await writeFile(path, `{\n\tadmin off\n}\n${server}`);
    const child = spawn('caddy', ['run', '--config', path, '--adapter', 'caddyfile'], {
      env: { PATH: process.env['PATH'] ?? '', HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    return untilLine(child, /serving initial configuration/);
  },
};

for (const relay of [nginx, caddy]) {
  describe(`the dashboard behind ${relay.name}`, {
    skip: relay.isInstalled ? false : `${relay.name} is not installed`,
  }, () => {
    let folder: string;
    let api: TestApi;
    let child: ChildProcess;
    let socket: string;
    let asset: string;
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'gatehouse-relay-'));
      socket = join(folder, 's');
      const site = join(folder, 'site');
      await mkdir(site);
      await cp(join(DIST, 'assets'), join(site, 'assets'), { recursive: true });
      for (const name of ['index.html', 'index.html.br', 'index.html.gz'])
        await cp(join(DIST, name), join(site, name));
      const files = await readDashboard(DIST);
      asset = [...files.assets.keys()].find((path) => /\/main-\w+\.js$/.test(path)) ?? assert.fail();
      // It serves the page as well, for the comparison.
      api = await startTestApi({ allowedHosts: new Set([HOST]) }, { dashboard: () => files });
      const text = await readFile(join(ROOT, 'docs/dashboard.md'), 'utf8');
      const [, example = assert.fail('no example')] =
        new RegExp(`^\`\`\`${relay.name.toLowerCase()}\n(.*?)^\`\`\``, 'ms').exec(text) ?? [];
      child = await relay.start(example, { folder, site, socket, apiPort: api.port });
    });
    after(async () => {
      if (child?.exitCode === null) {
        const ended = once(child, 'exit');
        child.kill('SIGTERM');
        await ended;
      }
      await api?.[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    });

    const ask = (
      path: string,
      { method = 'GET', headers = {}, body, isDirect }: Asked = {},
    ): Promise<Reply> =>
      new Promise((resolve, reject) => {
        const outgoing = request(
          {
            ...(isDirect ? { host: '127.0.0.1', port: api.port } : { socketPath: socket }),
            path,
            method,
            headers: { host: HOST, accept: 'text/html', ...headers },
            agent: false,
          },
          (incoming) => {
            const chunks: Buffer[] = [];
            incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
            incoming.on('error', reject);
            incoming.on('end', () =>
              resolve({
                status: incoming.statusCode ?? 0,
                headers: incoming.headers,
                body: Buffer.concat(chunks),
              }),
            );
          },
        );
        outgoing.on('error', reject);
        outgoing.end(body);
      });
    const change = (path: string, body: unknown, headers: Record<string, string> = {}) =>
      ask(path, {
        method: 'POST',
        headers: { origin: `https://${HOST}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });

    it('has the headers that the service gives it', async () => {
      for (const path of ['/', '/keys', asset]) {
        const [relayed, direct] = await Promise.all([ask(path), ask(path, { isDirect: true })]);
        assert.equal(relayed.status, 200, path);
        assert.deepEqual(relayed.body, direct.body);
        for (const name of SAME)
          assert.equal(relayed.headers[name], direct.headers[name], `${name} of ${path}`);
      }
    });

    it('is compressed ahead of time', async () => {
      const plain = await ask(asset);
      const { headers, body } = await ask(asset, { headers: { 'accept-encoding': 'gzip' } });
      assert.equal(headers['content-encoding'], 'gzip');
      assert.deepEqual(gunzipSync(body), plain.body);
      assert.deepEqual(body, await readFile(join(DIST, `${asset}.gz`)));
    });

    it('has no files besides those of the page', async () => {
      for (const path of ['/assets/missing.js', '/assets/']) assert.ok((await ask(path)).status >= 400, path);
      // What such a path means after its decoding is the page or nothing.
      for (const path of [
        '/assets/../../../nginx.conf',
        '/assets/..%2f..%2fnginx.conf',
        '/%2e%2e/nginx.conf',
      ]) {
        const { status, body } = await ask(path);
        assert.ok(status >= 400 || body.toString().startsWith('<!doctype html>'), path);
      }
      assert.match((await ask('/build.json')).body.toString(), /^<!doctype html>/);
    });

    it('signs in by the API on the same origin, and refuses other origins', async () => {
      const account = { email: 'ada@example.com', password: 'correct horse battery staple' };
      const registered = await change('/api/auth/register', { ...account, organization_name: 'Acme' });
      assert.equal(registered.status, 201, registered.body.toString());
      const signedIn = await change('/api/auth/login', account);
      assert.equal(signedIn.status, 200);
      const cookies = signedIn.headers['set-cookie'] ?? [];
      assert.ok(cookies.length === 2 && cookies.every((cookie) => /Secure; SameSite=Lax$/.test(cookie)));
      const cookie = cookies.map((one) => one.split(';')[0]).join('; ');
      assert.equal((await ask('/api/auth/me', { headers: { cookie } })).status, 200);
      const foreign = await change('/api/auth/logout', {}, { cookie, origin: 'https://evil.example' });
      assert.equal(foreign.status, 403);
      const unknown = await ask('/api/nothing', { headers: { cookie } });
      assert.equal(unknown.body.toString(), '{"error":"Path not found."}');
    });
  });
}
