import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { type Bench, useBench } from '../testing/bench.ts';
import { chunk, completion, DONE, delta, json, sse } from '../testing/mock-provider.ts';

const PAGE = 'https://app.example.com';
const ASKS = { origin: PAGE, 'access-control-request-method': 'POST' };
const CORS = /^access-control-/;

const corsOf = ({ headers }: Response) =>
  Object.fromEntries([...headers].filter(([name]) => CORS.test(name) || name === 'vary'));
const preflight = (bench: Bench, headers: Record<string, string>, path = '/v1/chat/completions') =>
  bench.gateway.fetch(path, { method: 'OPTIONS', headers });

const bounds = { bodyLimitBytes: 1_000, allowedHosts: '*' } as const;
const bench = await useBench({ ...bounds, corsOrigins: new Set([PAGE, 'http://localhost:3000']) });
const open = await useBench({ ...bounds, corsOrigins: '*' });
const closed = await useBench();

describe('the page of an origin in GATEWAY_CORS_ORIGINS', () => {
  it('204 with what it may send, which is whatever SDKs send', async () => {
    const names = 'authorization,content-type,x-stainless-lang,x-svc-meta-team';
    const response = await preflight(bench, { ...ASKS, 'access-control-request-headers': names });
    assert.deepEqual([response.status, await response.text()], [204, '']);
    assert.equal(response.headers.get('content-length'), null);
    assert.match(response.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/);
    assert.deepEqual(corsOf(response), {
      'access-control-allow-origin': PAGE,
      'access-control-allow-headers': names,
      'access-control-allow-methods': 'GET, HEAD, POST',
      'access-control-expose-headers': '*',
      'access-control-max-age': '7200',
      vary: 'origin, access-control-request-headers',
    });
    for (const path of ['/v1/messages', '/v1/models', '/v1/models/mock/model', '/healthz'])
      assert.equal((await preflight(bench, ASKS, path)).status, 204, path);
  });

  it('204 without names that are none, or are longer than 4 KiB', async () => {
    for (const names of ['a b', 'a,,b', '<x>', 'x'.repeat(4_097)]) {
      const response = await preflight(bench, { ...ASKS, 'access-control-request-headers': names });
      assert.deepEqual([response.status, response.headers.get('access-control-allow-headers')], [204, null]);
    }
  });

  it('204, and the connection closes, where more than 1 MiB comes with it', async () => {
    const size = 3 * 1024 ** 2;
    const head = `OPTIONS /v1/models HTTP/1.1\r\nhost: x\r\norigin: ${PAGE}\r\naccess-control-request-method: GET\r\n`;
    const next = 'GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n';
    const socket = connect(bench.gateway.port, '127.0.0.1');
    let text = '';
    socket.on('data', (data: Buffer) => (text += data));
    // A reset is an error before it is the end.
    const closed = once(socket, 'close').catch(() => {});
    socket.write(`${head}content-length: ${size}\r\n\r\n`);
    await once(socket, 'data');
    socket.write(Buffer.alloc(size));
    socket.write(next);
    await closed;
    assert.deepEqual(text.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 204']);
  });

  it('404 for an unknown path, and 405 where it asks nothing', async () => {
    assert.equal((await preflight(bench, ASKS, '/v1/unknown')).status, 404);
    assert.equal((await preflight(bench, { origin: PAGE })).status, 405);
  });

  it('200 and 401 that the page can read, with their headers, whole and streamed', async () => {
    const readable = {
      'access-control-allow-origin': PAGE,
      'access-control-expose-headers': '*',
      vary: 'origin',
    };
    const headers = { origin: PAGE };
    bench.provider.script = json(completion('Hi', { prompt: 1, completion: 1 }), 200, {
      'access-control-allow-origin': 'https://other.example',
    });
    const whole = await bench.gateway.chat(bench.key.secret, {}, { headers });
    assert.deepEqual([whole.status, corsOf(whole)], [200, readable]);
    await whole.text();
    bench.provider.script = sse(chunk(delta('Hi')), chunk(delta('', 'stop')), DONE);
    const streamed = await bench.gateway.chat(bench.key.secret, { stream: true }, { headers });
    assert.deepEqual([streamed.status, corsOf(streamed)], [200, readable]);
    await streamed.text();
    const refused = await bench.gateway.chat('sk_svc_none', {}, { headers });
    assert.deepEqual([refused.status, corsOf(refused)], [401, readable]);
    await refused.text();
  });

  for (const origin of [
    'https://evil.example',
    `${PAGE}.evil.example`,
    `${PAGE}:444`,
    'null',
    'http://app.example.com',
  ]) {
    it(`405 and nothing that it can read for the page of ${origin}`, async () => {
      const response = await preflight(bench, { ...ASKS, origin });
      assert.deepEqual([response.status, corsOf(response)], [405, {}]);
      const answer = await bench.gateway.fetch('/v1/models', { headers: { origin } });
      assert.deepEqual(corsOf(answer), {});
    });
  }
});

describe('the page of any origin', () => {
  it('204 where GATEWAY_CORS_ORIGINS is a star, for a page without an origin too', async () => {
    for (const origin of [PAGE, 'null']) {
      const response = await preflight(open, { ...ASKS, origin });
      assert.deepEqual([response.status, response.headers.get('access-control-allow-origin')], [204, '*']);
    }
  });

  it('405 where it is not set', async () => {
    const response = await preflight(closed, ASKS);
    assert.deepEqual([response.status, corsOf(response)], [405, {}]);
  });
});
