import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type IncomingHttpHeaders, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { duringTests } from '../../testing/during-tests.ts';
import { startTestApi } from '../../testing/test-api.ts';
import { type DashboardFiles, readDashboard } from './dashboard-files.ts';

const HTML = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const PAGE = '<!doctype html><script type="module" src="/assets/main-1.js"></script>';
const SCRIPT = `console.log('${'gatehouse '.repeat(100)}')`;
const FONT = Buffer.from([0, 1, 2, 255]);

interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

describe('the dashboard on the port of the API', () => {
  let folder: string;
  let files: DashboardFiles;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatehouse-page-'));
    await mkdir(join(folder, 'assets'));
    for (const [path, text] of [
      ['index.html', PAGE],
      ['assets/main-1.js', SCRIPT],
    ] as const) {
      await writeFile(join(folder, path), text);
      await writeFile(join(folder, `${path}.br`), brotliCompressSync(text));
      await writeFile(join(folder, `${path}.gz`), gzipSync(text));
    }
    await writeFile(join(folder, 'assets/plex-1.woff2'), FONT);
    files = await readDashboard(folder);
  });
  after(() => rm(folder, { recursive: true, force: true }));
  const api = duringTests(() => startTestApi({ allowedHosts: new Set() }, { dashboard: () => files }));

  const ask = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Reply> =>
    new Promise((resolve, reject) => {
      const outgoing = request(
        { host: '127.0.0.1', port: api.port, path, method, headers, agent: false },
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
      outgoing.end();
    });
  const open = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    ask(path, { accept: HTML, ...headers }, method);

  const assertNotFound = ({ status, headers, body }: Reply, path: string) => {
    assert.equal(status, 404, path);
    assert.equal(body.toString(), '{"error":"Path not found."}');
    assert.equal(headers['cache-control'], 'no-store');
  };

  it('200 with the page for every path that a browser opens outside of the API', async () => {
    for (const path of [
      '/',
      '/keys',
      '/requests/req_1?range=24h',
      '/keys/',
      '/x/%2e%2e/y',
      '/model/gpt-5.2',
    ]) {
      const { status, headers, body } = await open(path);
      assert.equal(status, 200, path);
      assert.equal(body.toString(), PAGE);
      assert.equal(headers['content-type'], 'text/html; charset=utf-8');
      assert.equal(headers['cache-control'], 'no-cache');
      assert.equal(headers['vary'], 'Accept, Accept-Encoding');
    }
  });

  it('200 with a policy that lets nothing run and nothing load from elsewhere', async () => {
    for (const path of ['/', '/assets/main-1.js']) {
      const { headers } = await open(path);
      const policy = headers['content-security-policy'];
      assert.ok(typeof policy === 'string');
      assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self';/);
      assert.match(
        policy,
        /frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'$/,
      );
      assert.doesNotMatch(policy, /unsafe|\*|https?:/);
      assert.equal(headers['x-content-type-options'], 'nosniff');
      assert.equal(headers['referrer-policy'], 'no-referrer');
      assert.equal(headers['cross-origin-opener-policy'], 'same-origin');
      assert.equal(headers['cross-origin-resource-policy'], 'same-origin');
      assert.match(String(headers['permissions-policy']), /camera=\(\)/);
    }
  });

  it('200 with assets that a browser keeps for ever', async () => {
    const script = await ask('/assets/main-1.js');
    assert.equal(script.body.toString(), SCRIPT);
    assert.equal(script.headers['content-type'], 'text/javascript; charset=utf-8');
    assert.equal(script.headers['cache-control'], 'public, max-age=31536000, immutable');
    assert.equal(script.headers['vary'], 'Accept-Encoding');
    const font = await ask('/assets/plex-1.woff2?v=1', { 'accept-encoding': 'br' });
    assert.deepEqual(font.body, FONT);
    assert.equal(font.headers['content-type'], 'font/woff2');
    assert.equal(font.headers['vary'], undefined);
    assert.equal(font.headers['content-encoding'], undefined);
  });

  it('200 in the best encoding that is accepted', async () => {
    const plain = (body: Buffer) => body.toString();
    for (const [accepted, encoding, decode] of [
      ['gzip, deflate, br, zstd', 'br', (body: Buffer) => brotliDecompressSync(body).toString()],
      ['gzip', 'gzip', (body: Buffer) => gunzipSync(body).toString()],
      ['identity', undefined, plain],
      ['br;q=0, gzip;q=0, identity;q=0', undefined, plain],
    ] as const) {
      for (const [path, text] of [
        ['/', PAGE],
        ['/assets/main-1.js', SCRIPT],
      ] as const) {
        const { status, headers, body } = await open(path, { 'accept-encoding': accepted });
        assert.equal(status, 200);
        assert.equal(headers['content-encoding'], encoding);
        assert.equal(headers['content-length'], String(body.length));
        assert.equal(decode(body), text);
      }
    }
  });

  it('304 for the content that the browser has, in the encoding that it has', async () => {
    for (const path of ['/', '/assets/main-1.js']) {
      const { headers } = await open(path, { 'accept-encoding': 'br' });
      const etag = String(headers['etag']);
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const reply = await open(path, { 'accept-encoding': 'br', 'if-none-match': known });
        assert.equal(reply.status, 304, known);
        assert.equal(reply.body.length, 0);
        assert.equal(reply.headers['etag'], etag);
        assert.equal(reply.headers['cache-control'], headers['cache-control']);
      }
      const other = await open(path, { 'accept-encoding': 'gzip', 'if-none-match': etag });
      assert.equal(other.status, 200);
      assert.notEqual(other.headers['etag'], etag);
    }
  });

  it('200 without a body for HEAD', async () => {
    for (const path of ['/', '/keys', '/assets/main-1.js']) {
      const { status, headers, body } = await open(path, {}, 'HEAD');
      const whole = await open(path);
      assert.equal(status, 200);
      assert.equal(body.length, 0);
      assert.equal(headers['content-length'], whole.headers['content-length']);
      assert.equal(headers['etag'], whole.headers['etag']);
    }
  });

  it('404 for a path that is no file of the dashboard, however it is spelt', async () => {
    for (const path of [
      '/assets/',
      '/assets/missing.js',
      '/assets/main-1.js/',
      '/assets//main-1.js',
      '/assets/./main-1.js',
      '/assets/../index.html',
      '/assets/%2e%2e/index.html',
      '/assets/..%2findex.html',
      '/assets/%6Dain-1.js',
      '/assets/main-1.js%00',
      '/assets/main-1.js.br',
      '/assets/..\\..\\package.json',
      '/assets/__proto__',
      '/assets/constructor',
      '/assets/%',
      `/assets/${'a'.repeat(15_000)}`,
      '/assets/../../../../etc/passwd',
      '/index.html',
      '/favicon.ico',
      '/.env',
      '/wp-login.php',
    ])
      assertNotFound(await open(path), path);
  });

  it('404 for a path of the API that does not exist, also for a browser', async () => {
    for (const path of [
      '/api',
      '/api/',
      '/api/nothing',
      '/API/members',
      '//api/x',
      '/api%2Fmembers',
      '/%61pi/x',
    ])
      assertNotFound(await open(path), path);
  });

  it('404 for programs, which accept no HTML, as without a dashboard', async () => {
    for (const accept of ['application/json', '*/*', 'text/plain', ''])
      assertNotFound(await ask('/keys', { accept }), accept);
    assertNotFound(await ask('/keys'), 'no header');
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND'])
      for (const path of ['/keys', '/assets/main-1.js']) assertNotFound(await open(path, {}, method), path);
  });

  it('200 with the text about the API for programs at /', async () => {
    for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }]) {
      const { status, headers: given, body } = await ask('/', headers);
      assert.equal(status, 200);
      assert.equal(given['content-type'], 'text/plain; charset=utf-8');
      assert.match(body.toString(), /POST \/api\/auth\/login/);
    }
    assert.equal((await ask('/', {}, 'HEAD')).status, 405);
    assert.equal((await open('/', {}, 'POST')).status, 405);
  });

  it('200 and 401 where the API and the health checks answer, also for a browser', async () => {
    assert.equal((await open('/healthz')).body.toString(), '{"status":"up"}');
    assert.equal((await open('/readyz')).status, 200);
    assert.equal((await open('/api/members')).status, 401);
  });

  it('421 for a host that is not served', async () => {
    for (const path of ['/', '/assets/main-1.js']) {
      const { status, body } = await open(path, { host: 'evil.example' });
      assert.equal(status, 421);
      assert.doesNotMatch(body.toString(), /script|console/);
    }
  });

  it('200 with the files of a later build, once they have been read', async () => {
    const earlier = files;
    await writeFile(join(folder, 'index.html'), `${PAGE}<!-- later -->`);
    await rm(join(folder, 'index.html.br'));
    await rm(join(folder, 'index.html.gz'));
    assert.equal((await open('/')).body.toString(), PAGE, 'no request reads the folder');
    files = await readDashboard(folder);
    const { body, headers } = await open('/', { 'if-none-match': earlier.page.identity.etag });
    assert.match(body.toString(), /later/);
    assert.equal(headers['vary'], 'Accept');
  });

  it('200 logged without the path that the browser opened', async () => {
    await open('/requests/private-1?search=private-2');
    const lines = JSON.stringify(api.logLines);
    assert.doesNotMatch(lines, /private-/);
    assert.match(lines, /"path":"\/assets\/:file"/);
  });
});
