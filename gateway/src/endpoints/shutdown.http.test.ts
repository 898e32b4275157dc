import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { fixedKeyRing } from '@gatehouse/store';
import { pino } from 'pino';
import { createGateway } from '../gateway.ts';
import { within } from '../journal/testing/wait-until.ts';
import { assertError, type Bench, startBench } from '../testing/bench.ts';
import { chunk, completion, delta, flush, json } from '../testing/mock-provider.ts';
import { startTestGateway } from '../testing/test-gateway.ts';

const LONG_MS = 60_000;

describe('closing the gateway', () => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await startBench();
  });
  afterEach(() => bench?.[Symbol.asyncDispose]());

  it('200 for a request in flight, and no other is accepted', async () => {
    const { promise: goOn, resolve: go } = Promise.withResolvers<void>();
    bench.provider.script = async (response, asked) => {
      await goOn;
      await json(completion('x', { prompt: 1, completion: 1 }))(response, asked);
    };
    const asked = bench.provider.next();
    const answer = bench.gateway.chat(bench.key.secret);
    await asked;
    const closed = bench.gateway.gateway.close({ graceMs: LONG_MS });
    await assert.rejects(bench.gateway.fetch('/healthz'), TypeError);
    go();
    const response = await answer;
    assert.equal(response.status, 200);
    await response.text();
    await closed;
    assert.deepEqual(
      bench.gateway.journal.records.map(({ status, terminationReason }) => [status, terminationReason]),
      [[200, 'success']],
    );
  });

  it('200 and the end of the connection once a stop is announced, while /readyz is 503', async () => {
    bench.provider.script = json(completion('x', { prompt: 1, completion: 1 }));
    const { gateway } = bench.gateway;
    const ask = async (path: string) => {
      const response = await bench.gateway.fetch(path);
      return [response.status, response.headers.get('connection'), await response.json()];
    };
    assert.deepEqual(await ask('/readyz'), [200, 'keep-alive', { status: 'ready' }]);
    gateway.announceStop();
    const stopping = { status: 'not ready', missing: ['the service is stopping'] };
    assert.deepEqual(await ask('/readyz'), [503, 'close', stopping]);
    assert.deepEqual(await ask('/healthz'), [200, 'close', { status: 'up' }]);
    for (const stream of [false, true]) {
      const response = await bench.gateway.chat(bench.key.secret, { stream });
      assert.deepEqual([response.status, response.headers.get('connection')], [200, 'close']);
      await response.text();
    }
    await gateway.close({ graceMs: LONG_MS });
    await assert.rejects(bench.gateway.fetch('/readyz'), TypeError);
  });

  it('waits until the last record is written, longer than a gateway without one takes to close', async () => {
    bench.provider.script = json(completion('x', { prompt: 1, completion: 1 }));
    await using other = await startTestGateway(bench.database);
    const { promise: written, resolve: write } = Promise.withResolvers<void>();
    const { promise: isAppending, resolve: appending } = Promise.withResolvers<void>();
    bench.gateway.journal.before = () => {
      appending();
      return written;
    };
    // The caller leaves, so the gateway has no connection to wait for: only the record.
    const leaving = new AbortController();
    const answer = bench.gateway.chat(bench.key.secret, {}, { signal: leaving.signal });
    await within('the append', LONG_MS, isAppending);
    leaving.abort();
    await assert.rejects(answer, { name: 'AbortError' });
    const order: string[] = [];
    const closed = bench.gateway.gateway.close({ graceMs: 0 }).then(() => order.push('closed'));
    await other.chat(bench.key.secret).then((response) => response.text());
    await other.gateway.close({ graceMs: 0 });
    order.push('other closed', 'written');
    write();
    await closed;
    assert.deepEqual(order, ['other closed', 'written', 'closed']);
    assert.equal(bench.gateway.journal.records.length, 1);
  });

  it('503 after the grace for a request without an answer yet, recorded and not billed', async () => {
    bench.provider.script = () => {};
    const asked = bench.provider.next();
    const answer = bench.gateway.chat(bench.key.secret);
    const { aborted } = await asked;
    const closed = bench.gateway.gateway.close({ graceMs: 0 });
    const response = await answer;
    await assertError(response, { status: 503, code: 'service_unavailable', type: 'server_error' });
    await Promise.all([closed, aborted]);
    await bench.assertRecord(response, {
      status: 503,
      refusal: 'service_unavailable',
      terminationReason: 'proxy_guillotine',
      costMicroPkr: 0n,
    });
  });

  it('200 with an error event after the grace for a stream, and what came is billed', async () => {
    bench.provider.script = async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      await flush(response, chunk(delta('Hello there')));
    };
    const response = await bench.gateway.chat(bench.key.secret, { stream: true });
    const reader = response.body?.getReader() ?? assert.fail();
    await reader.read();
    const closed = bench.gateway.gateway.close({ graceMs: 0 });
    const last = Buffer.from((await reader.read()).value ?? []).toString();
    assert.match(last, /^data: \{"error":.*"service_unavailable"\}\}\n\n$/);
    assert.equal((await reader.read()).done, true);
    await closed;
    await bench.assertRecord(response, {
      status: 200,
      terminationReason: 'proxy_guillotine',
      tokensGenerated: 2,
    });
  });

  it('503 after the grace for a request whose body never comes', async () => {
    const socket = connect(bench.gateway.port, '127.0.0.1');
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${bench.key.secret}\r\nexpect: 100-continue\r\ncontent-length: 9\r\n\r\n`,
    );
    await once(socket, 'data');
    const closed = bench.gateway.gateway.close({ graceMs: 0 });
    const [answer] = await once(socket, 'data');
    assert.match(String(answer), /^HTTP\/1\.1 503 /);
    assert.match(String(answer), /connection: close/i);
    await closed;
    assert.equal(bench.gateway.journal.records[0]?.status, 503);
    socket.destroy();
  });

  it('closes connections that wait for their next request, and can be asked twice', async () => {
    const socket = connect(bench.gateway.port, '127.0.0.1');
    socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n');
    await once(socket, 'data');
    const ended = once(socket, 'close');
    socket.resume();
    const { gateway } = bench.gateway;
    await Promise.all([gateway.close({ graceMs: LONG_MS }), gateway.close({ graceMs: LONG_MS })]);
    await ended;
    await gateway[Symbol.asyncDispose]();
  });

  it('closes what never listened, and what could not because the port is taken', async () => {
    await using second = await startTestGateway(bench.database);
    const { gateway } = second;
    await gateway.close({ graceMs: 0 });
    await using third = createGateway({
      database: bench.database,
      journal: second.journal,
      log: pino({ level: 'silent' }),
      clock: second.time.clock,
      settings: { bodyLimitBytes: 1 },
      platformKey: () => undefined,
      keyRing: fixedKeyRing([]),
    });
    const { port } = bench.gateway;
    await assert.rejects(third.listen({ host: '127.0.0.1', port }), { code: 'EADDRINUSE' });
  });
});
