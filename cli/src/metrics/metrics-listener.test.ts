import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { UnreadAnswers } from '@gatehouse/http';
import { createMetricsListener, type MetricsListener } from './metrics-listener.ts';

let listener: MetricsListener;
let port: number;
let nowMs = 0;
let runs = 0;
let result: () => Promise<string> = async () => 'up 1\n';
const logged: unknown[] = [];
/** Callbacks for answers that wait for their callers, and the milliseconds after which they run. */
const waits = new Map<() => void, number>();
let onWait = () => {};

async function ask(path: string, method = 'GET', headers: Record<string, string> = {}, body = '') {
  const sent = request({ host: '127.0.0.1', port, path, method, headers });
  sent.end(body);
  const [response] = await once(sent, 'response');
  let text = '';
  for await (const chunk of response) text += chunk;
  return { status: response.statusCode as number, headers: response.headers, text };
}

/** Sends bytes over a connection and reads until it closes. */
async function talk(bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  socket.on('error', () => undefined);
  socket.write(bytes);
  await once(socket, 'close');
  return text;
}

describe('the port of the metrics', () => {
  before(async () => {
    listener = createMetricsListener({
      allowedHosts: new Set(['metrics.internal']),
      contentType: 'text/plain; version=0.0.4',
      run: () => {
        runs += 1;
        return result();
      },
      log: { error: (fields: unknown) => logged.push(fields) } as never,
      monotonicMs: () => nowMs,
      unreadAnswers: new UnreadAnswers({
        timers: {
          after(ms, callback) {
            waits.set(callback, ms);
            onWait();
            return () => waits.delete(callback);
          },
        },
      }),
    });
    port = await listener.listen('127.0.0.1', 0);
  });
  after(() => listener[Symbol.asyncDispose]());

  it('200 for GET and HEAD of /metrics, whatever the query', async () => {
    const got = await ask('/metrics?x=1');
    assert.deepEqual([got.status, got.text], [200, 'up 1\n']);
    assert.equal(got.headers['content-type'], 'text/plain; version=0.0.4');
    assert.equal(got.headers['x-content-type-options'], 'nosniff');
    const head = await ask('/metrics', 'HEAD');
    assert.deepEqual([head.status, head.text, head.headers['content-length']], [200, '', '5']);
    assert.equal((await ask('/metrics', 'GET', { host: 'metrics.internal:9464' })).status, 200);
  });

  for (const [path, method] of [
    ['/', 'GET'],
    ['/metrics/', 'GET'],
    ['/metrics', 'POST'],
    ['/metrics', 'DELETE'],
    ['/healthz', 'GET'],
    ['/../metrics', 'GET'],
  ] as const) {
    it(`404 for ${method} ${path}`, async () => {
      const { status, headers } = await ask(path, method, {}, method === 'POST' ? 'x'.repeat(100_000) : '');
      assert.equal(status, 404);
      if (method === 'POST') assert.equal(headers.connection, 'close');
    });
  }

  it('421 for a name that is not served', async () => {
    const { status, text } = await ask('/metrics', 'GET', { host: 'attacker.example' });
    assert.equal(status, 421);
    assert.match(text, /ALLOWED_HOSTS/);
  });

  it('400 and 431 for what is no request, and the connection closes', async () => {
    assert.match(await talk('nonsense\r\n\r\n'), /^HTTP\/1\.1 400 /);
    const long = 'x'.repeat(20_000);
    assert.match(
      await talk(`GET /metrics HTTP/1.1\r\nhost: localhost\r\na: ${long}\r\n\r\n`),
      /^HTTP\/1\.1 431 /,
    );
  });

  it('200 from one collection for all that ask at once and within a second', async () => {
    nowMs += 10_000;
    runs = 0;
    const pending = Promise.withResolvers<string>();
    result = () => pending.promise;
    const asked = Array.from({ length: 20 }, () => ask('/metrics'));
    pending.resolve('shared 1\n');
    const texts = (await Promise.all(asked)).map(({ text }) => text);
    assert.deepEqual([new Set(texts), runs], [new Set(['shared 1\n']), 1]);
    nowMs += 999;
    await ask('/metrics');
    assert.equal(runs, 1);
    nowMs += 1;
    await ask('/metrics');
    assert.equal(runs, 2);
  });

  it('closes a connection that does not read its answer for half a minute', async () => {
    nowMs += 10_000;
    result = async () => 'x'.repeat(16 * 1024 * 1024);
    const waited = new Promise<void>((resolve) => {
      onWait = resolve;
    });
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write('GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n');
    await waited;
    const [[isLate, ms] = []] = [...waits];
    assert.deepEqual([waits.size, ms], [1, 30_000]);
    isLate?.();
    socket.resume();
    await once(socket, 'close');
  });

  it('500 when the metrics cannot be collected, and 200 the next time', async () => {
    nowMs += 10_000;
    result = () => Promise.reject(new Error('broken'));
    assert.equal((await ask('/metrics')).status, 500);
    assert.equal((logged.at(-1) as { event: string }).event, 'metrics.collection_failed');
    nowMs += 1_000;
    result = async () => 'up 1\n';
    assert.equal((await ask('/metrics')).status, 200);
  });
});
