import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, it } from 'node:test';
import { READ_ON_MS } from '../attempt/read-on.ts';
import { useBench } from '../testing/bench.ts';
import { chunk, DONE, delta, flush, sse, usageOf } from '../testing/mock-provider.ts';
import { assertNoDelays } from '../testing/no-delays.ts';

const usage = usageOf({ prompt: 9, completion: 4 });
const events = [
  chunk({
    choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }],
    usage: null,
  }),
  chunk({ ...delta('Hé☕'), usage: null }),
  chunk({ ...delta(' there'), usage: null }),
  chunk({ ...delta('', 'stop'), usage: null }),
  chunk({ choices: [], usage }),
  DONE,
];
const shown = events.filter((_, at) => at !== 4).map((event) => event.replace(',"usage":null', ''));

const bench = await useBench();

describe('POST /v1/chat/completions, streamed', () => {
  afterEach(() => {
    bench.provider.asked.length = 0;
  });

  it('200 with the events as they came, usage hidden, and the time to the first token', async () => {
    bench.provider.script = async (response) => {
      const { time } = bench.gateway;
      time.advance(100);
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
      await flush(response, events[0] ?? '');
      time.advance(20);
      response.end(events.slice(1).join(''));
    };
    const response = await bench.gateway.chat(bench.key.secret, { stream: true });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
    assert.equal(response.headers.get('x-ratelimit-limit-requests'), '1000');
    assert.equal(response.headers.get('x-accel-buffering'), 'no');
    assert.equal(await response.text(), shown.join(''));
    await bench.assertRecord(response, {
      status: 200,
      isStream: true,
      ttftMs: 120,
      tpotMs: 0,
      totalMs: 120,
      preDispatchMs: 0,
      promptTokens: 9,
      tokensGenerated: 4,
      totalTokens: 13,
      tokensEstimated: false,
      costMicroPkr: 9n * 70n + 4n * 560n,
      terminationReason: 'success',
      upstreamError: null,
      isHeld: true,
    });
    assert.deepEqual(bench.provider.asked[0]?.body['stream_options'], { include_usage: true });
    assert.equal(bench.provider.asked[0]?.headers.accept, 'text/event-stream');
    await assertNoDelays(bench.gateway.time);
  });

  it('200 with everything shown to a caller that asked for usage', async () => {
    bench.provider.script = sse(...events);
    const body = { stream: true, stream_options: { include_usage: true } };
    assert.equal(await (await bench.gateway.chat(bench.key.secret, body)).text(), events.join(''));
  });

  it('200 with the same bytes wherever the packets split', async () => {
    const bytes = Buffer.from(events.join(''));
    for (let at = 1; at < bytes.length; at += 37) {
      bench.provider.script = sse(bytes.subarray(0, at), bytes.subarray(at));
      const response = await bench.gateway.chat(bench.key.secret, { stream: true });
      assert.equal(await response.text(), shown.join(''));
    }
  });

  /** All bytes of the gateway on a connection that begins with these requests, each in its version of HTTP, and ends. */
  const said = async (...versions: readonly string[]): Promise<Buffer> => {
    bench.provider.script = async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of events) await flush(response, event);
      response.end();
    };
    const body = JSON.stringify({
      model: 'mock/model',
      stream: true,
      messages: [{ role: 'user', content: 'hi' }],
    });
    const socket = connect(bench.gateway.port, '127.0.0.1');
    versions.forEach((version, index) => {
      const end = index === versions.length - 1 ? 'connection: close\r\n' : '';
      socket.write(
        `POST /v1/chat/completions HTTP/${version}\r\nhost: localhost\r\nauthorization: Bearer ${bench.key.secret}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n${end}\r\n${body}`,
      );
    });
    return Buffer.concat(await Array.fromAsync(socket));
  };

  it('200 in chunks of their length, in bytes, as the events come, also where requests wait on a connection', async () => {
    let rest = await said('1.1', '1.1');
    for (let answers = 0; answers < 2; answers += 1) {
      const head = rest.indexOf('\r\n\r\n');
      assert.match(
        rest.toString('latin1', 0, head),
        /^HTTP\/1.1 200 OK\r\n(?:.*\r\n)*transfer-encoding: chunked/i,
      );
      rest = rest.subarray(head + 4);
      const chunks: Buffer[] = [];
      for (let length = -1; length !== 0; ) {
        const line = rest.indexOf('\r\n');
        length = Number.parseInt(rest.toString('latin1', 0, line), 16);
        chunks.push(rest.subarray(line + 2, line + 2 + length));
        rest = rest.subarray(line + 2 + length);
        assert.equal(rest.toString('latin1', 0, 2), '\r\n');
        rest = rest.subarray(2);
      }
      assert.ok(chunks.length > 2, `${chunks.length} chunks`);
      assert.equal(Buffer.concat(chunks).toString(), shown.join(''));
    }
    assert.equal(rest.length, 0);
  });

  it('200 without chunks in HTTP/1.0', async () => {
    const text = (await said('1.0')).toString();
    assert.equal(text.slice(text.indexOf('\r\n\r\n') + 4), shown.join(''));
  });

  it('200 counted with a tokenizer when the provider gives no usage', async () => {
    bench.provider.script = sse(...shown);
    const response = await bench.gateway.chat(bench.key.secret, { stream: true });
    assert.equal(await response.text(), shown.join(''));
    await bench.assertRecord(response, {
      promptTokens: 8,
      tokensGenerated: 5,
      tokensEstimated: true,
      costMicroPkr: 8n * 70n + 5n * 560n,
    });
  });

  it('200 with the head before the first event, and the first event before the second exists', async () => {
    const { promise: goOn, resolve: go } = Promise.withResolvers<void>();
    bench.provider.script = async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
      await goOn;
      await flush(response, events[1] ?? '');
    };
    const response = await bench.gateway.chat(bench.key.secret, { stream: true });
    assert.equal(response.status, 200);
    go();
    const reader = response.body?.getReader() ?? assert.fail();
    const first = await reader.read();
    assert.equal(Buffer.from(first.value ?? []).toString(), shown[1]);
    await reader.cancel();
    await bench.gateway.time.started(READ_ON_MS);
    bench.gateway.time.fire(READ_ON_MS);
    await bench.recordOf(response);
  });

  it('200 without the end mark until the record is written', async () => {
    bench.provider.script = sse(...events);
    const { promise: written, resolve: write } = Promise.withResolvers<void>();
    bench.gateway.journal.before = () => written;
    const response = await bench.gateway.chat(bench.key.secret, { stream: true });
    const reader = response.body?.getReader() ?? assert.fail();
    let received = '';
    const beforeTheEnd = shown.slice(0, -1).join('');
    while (received.length < beforeTheEnd.length) {
      received += Buffer.from((await reader.read()).value ?? []).toString('latin1');
      if (received.length >= Buffer.byteLength(beforeTheEnd)) break;
    }
    assert.equal(received, Buffer.from(beforeTheEnd).toString('latin1'));
    assert.equal(
      bench.gateway.journal.records.some((one) => response.headers.get('x-request-id') === one.requestId),
      false,
    );
    bench.gateway.journal.before = async () => {};
    write();
    assert.equal(Buffer.from((await reader.read()).value ?? []).toString(), DONE);
    assert.equal((await reader.read()).done, true);
  });

  it('200 and an error event in place of the end mark when the record cannot be written', async () => {
    bench.provider.script = sse(...events);
    bench.gateway.journal.before = async () => {
      throw new Error('no space left');
    };
    const response = await bench.gateway.chat(bench.key.secret, { stream: true });
    assert.deepEqual(lastErrorOf(await response.text()), ['server_error', 'service_unavailable']);
    bench.gateway.journal.before = async () => {};
  });

  it('200 with the end mark although the provider keeps its connection open', async () => {
    bench.provider.script = async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      await flush(response, events.join(''));
    };
    const next = bench.provider.next();
    const response = await bench.gateway.chat(bench.key.secret, { stream: true });
    assert.equal(await response.text(), shown.join(''));
    assert.equal((await bench.recordOf(response)).terminationReason, 'success');
    // Only the wait for its end is left, and that is not for ever.
    assert.equal(bench.gateway.time.pending, 1);
    bench.gateway.time.fire(1_000);
    await (await next).aborted;
  });

  it('200 and the provider’s error event alone when it aborts after that', async () => {
    const told = 'data: {"error":{"message":"no capacity is left","type":"overloaded"}}\n\n';
    bench.provider.script = async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      await flush(response, events.slice(0, 3).join('') + told);
      response.destroy();
    };
    const response = await bench.gateway.chat(bench.key.secret, { stream: true });
    assert.equal(await response.text(), shown.slice(0, 3).join('') + told);
    const record = await bench.recordOf(response);
    assert.equal(record.upstreamError, 'no capacity is left');
  });

  for (const [title, cut] of [
    ['aborts', (response: import('node:http').ServerResponse) => void response.destroy()],
    ['ends without finishing', (response: import('node:http').ServerResponse) => void response.end()],
  ] as const) {
    it(`200 and an error event when the provider ${title} in the middle, and bills what came`, async () => {
      bench.provider.script = async (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        await flush(response, events.slice(0, 3).join(''));
        cut(response);
      };
      const response = await bench.gateway.chat(bench.key.secret, { stream: true });
      const received = await response.text();
      const before = shown.slice(0, 3).join('');
      assert.ok(received.startsWith(before));
      assert.equal(received.slice(before.length).match(/data:/g)?.length, 1);
      assert.deepEqual(lastErrorOf(received), ['upstream_error', 'upstream_error']);
      const record = await bench.assertRecord(response, {
        status: 200,
        terminationReason: 'upstream_stream_aborted',
        refusal: '',
        promptTokens: 8,
        tokensGenerated: 5,
        tokensEstimated: true,
        costMicroPkr: 8n * 70n + 5n * 560n,
      });
      assert.ok(record.upstreamError);
    });
  }

  it('200 with the whole answer when the connection breaks after the end mark, and counts what was not told', async () => {
    const untold = events.filter((_, at) => at !== 4);
    bench.provider.script = async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      await flush(response, untold.join(''));
      response.destroy();
    };
    const response = await bench.gateway.chat(bench.key.secret, { stream: true });
    assert.equal(await response.text(), shown.join(''));
    await bench.assertRecord(response, {
      status: 200,
      terminationReason: 'success',
      promptTokens: 8,
      tokensEstimated: true,
      upstreamError: null,
    });
  });

  it('200 that costs nothing when the provider aborts before the first token', async () => {
    bench.provider.script = async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      await flush(response, events[0] ?? '');
      response.destroy();
    };
    const response = await bench.gateway.chat(bench.key.secret, { stream: true });
    assert.deepEqual(lastErrorOf(await response.text()), ['upstream_error', 'upstream_error']);
    await bench.assertRecord(response, { costMicroPkr: 0n, ttftMs: null, tpotMs: null, promptTokens: null });
  });

  it("200 with a provider's error inside the stream, and records what it said", async () => {
    const error = 'data: {"error":{"message":"overloaded","code":529}}\n\n';
    bench.provider.script = sse(events[1] ?? '', error);
    const response = await bench.gateway.chat(bench.key.secret, { stream: true });
    assert.equal(await response.text(), shown[1] + error);
    const { upstreamError, terminationReason, tokensGenerated } = await bench.recordOf(response);
    assert.deepEqual(
      { upstreamError, terminationReason, tokensGenerated },
      { upstreamError: 'overloaded', terminationReason: 'success', tokensGenerated: 4 },
    );
  });

  it('200 with far more than any buffer holds, complete', async () => {
    const long = Array.from({ length: 150 }, () => chunk(delta('x'.repeat(60_000))));
    const end = chunk(delta('', 'stop')) + DONE;
    bench.provider.script = async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of long) {
        if (!response.write(event)) await once(response, 'drain');
      }
      response.end(end);
    };
    const response = await bench.gateway.chat(bench.key.secret, { stream: true, max_tokens: 1 });
    assert.equal(await response.text(), long.join('') + end);
    assert.equal((await bench.recordOf(response)).terminationReason, 'success');
  });
});

/** The type and the code of the error that the last event is. */
function lastErrorOf(stream: string): unknown[] {
  const data = stream.slice(stream.lastIndexOf('data: ') + 6);
  const { error } = JSON.parse(data) as { error: { type: unknown; code: unknown } };
  return [error.type, error.code];
}
