import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { afterEach, before, describe, it } from 'node:test';
import { MAX_ANSWER_BYTES } from '../attempt/whole-answer.ts';
import { assertError, useBench } from '../testing/bench.ts';
import {
  chunk,
  completion,
  DONE,
  delta,
  flush,
  json,
  type Script,
  sse,
  usageOf,
} from '../testing/mock-provider.ts';
import { assertNoDelays } from '../testing/no-delays.ts';
import { addRoute, PLATFORM_KEY, ROUTE_TIMEOUT_MS } from '../testing/test-gateway.ts';

const answer = JSON.stringify(completion('Hello', { prompt: 9, completion: 4 }));
const events = [chunk(delta('Hello')), chunk(delta('', 'stop')), DONE].join('');

/** Writes these bytes and nothing else, and ends the connection. */
const raw =
  (...pieces: readonly string[]): Script =>
  async ({ socket }) => {
    for (const piece of pieces) {
      await new Promise<void>((resolve) => socket?.write(piece, () => resolve()));
    }
    socket?.end();
  };
const whole = `content-type: application/json\r\ncontent-length: ${answer.length}\r\n\r\n${answer}`;

/** How long a reader thread may take. */
const READ_MS = 20_000;
const bench = await useBench({ bodyLimitBytes: 8 * 1024 * 1024 });

describe('odd answers of a provider', () => {
  before(async () => {
    const { baseUrl } = bench.provider;
    const endpoints = ['chat', 'messages', 'responses'] as const;
    await addRoute(bench.database, { id: 'odd/messages', baseUrl, protocol: 'anthropic', endpoints });
    await addRoute(bench.database, { id: 'odd/chat', baseUrl, endpoints });
  });
  afterEach(() => assertNoDelays(bench.gateway.time));
  const refused = async (response: Response) => {
    await assertError(response, { status: 502, code: 'upstream_error', type: 'upstream_error' });
    return bench.recordOf(response);
  };

  for (const [title, script] of [
    [
      'early hints before it',
      raw('HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n', `HTTP/1.1 200 OK\r\n${whole}`),
    ],
    ['a hundred of them', raw('HTTP/1.1 102 Processing\r\n\r\n'.repeat(100), `HTTP/1.1 200 OK\r\n${whole}`)],
    [
      'the extensions of its chunks',
      raw(
        'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n',
        `${answer.length.toString(16)};a=b;c="${'d'.repeat(2_000)}"\r\n${answer}\r\n0;x\r\n\r\n`,
      ),
    ],
  ] as const) {
    it(`200 for an answer with ${title}`, async () => {
      bench.provider.script = script;
      const response = await bench.gateway.chat(bench.key.secret);
      assert.equal(response.status, 200);
      assert.equal(await response.text(), answer);
      assert.equal((await bench.recordOf(response)).tokensGenerated, 4);
    });
  }

  it('503 for a large answer that the gateway does not read in time, billed by an estimate', async () => {
    const { time } = bench.gateway;
    bench.provider.script = json(completion('word '.repeat(100_000), { prompt: 9, completion: 4 }));
    const isRead = time.started(READ_MS);
    const asked = bench.gateway.chat(bench.key.secret);
    await isRead;
    time.fire(READ_MS);
    const response = await asked;
    await assertError(response, { status: 503, code: 'service_unavailable', type: 'server_error' });
    await bench.assertRecord(response, {
      terminationReason: 'proxy_guillotine',
      upstreamError: 'the gateway did not read the answer in time',
      tokensEstimated: true,
    });
    assert.ok((await bench.recordOf(response)).costMicroPkr > 0n);
  });

  for (const [title, script] of [
    ['a status of 999', raw(`HTTP/1.1 999 Odd\r\n${whole}`)],
    ['a status of 600', raw(`HTTP/1.1 600 Odd\r\n${whole}`)],
    ['a switch of protocols', raw('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n')],
    ['headers without end', raw('HTTP/1.1 200 OK\r\n', ...Array(40).fill(`x-y: ${'z'.repeat(1_000)}\r\n`))],
    ['one endless header', raw('HTTP/1.1 200 OK\r\nx-y: ', ...Array(40).fill('z'.repeat(1_000)))],
    ['a redirect', raw('HTTP/1.1 308 Moved\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n')],
    ['an encoding that was not asked for', json(answer, 200, { 'content-encoding': 'br' })],
  ] as const) {
    for (const stream of [false, true]) {
      it(`502 for ${title} (stream: ${stream})`, async () => {
        bench.provider.script = script;
        const record = await refused(await bench.gateway.chat(bench.key.secret, { stream }));
        assert.equal(record.costMicroPkr, 0n);
      });
    }
  }

  it('200 as JSON for an answer that the provider calls a stream and ends as one', async () => {
    const headers = { 'content-type': 'text/event-stream' };
    bench.provider.script = json(`${answer}\n\ndata: [DONE]\n\n`, 200, headers);
    const response = await bench.gateway.chat(bench.key.secret);
    assert.equal(response.headers.get('content-type'), 'application/json');
    assert.equal(await response.text(), answer);
  });

  it('400 as JSON for an error that comes as an event, for a caller of another format', async () => {
    const headers = { 'content-type': 'text/event-stream' };
    bench.provider.script = json('event:error\ndata:{"code":"x","message":"No."}\n\n', 400, headers);
    const asked = {
      model: 'odd/chat',
      max_tokens: 5,
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
    };
    const response = await bench.gateway.post('/v1/messages', bench.key.secret, asked);
    assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8');
    const { error } = (await response.json()) as { error: { message: string } };
    assert.deepEqual([response.status, error.message], [400, 'No.']);
    assert.equal((await bench.recordOf(response)).upstreamError, 'No.');
  });

  it('200 for a stream that comes byte by byte', async () => {
    bench.provider.script = async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.socket?.setNoDelay(true);
      for (const byte of events) await flush(response, byte);
      response.end();
    };
    const response = await bench.gateway.chat(bench.key.secret, { stream: true });
    assert.equal(await response.text(), events);
  });

  it('200 for an answer in chunks of a byte', async () => {
    const long = JSON.stringify(completion('Hello'.repeat(20_000), { prompt: 9, completion: 4 }));
    const chunks = Array.from(long, (byte) => `1\r\n${byte}\r\n`).join('');
    bench.provider.script = raw(
      'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n',
      `${chunks}0\r\n\r\n`,
    );
    const response = await bench.gateway.chat(bench.key.secret);
    assert.equal(await response.text(), long);
  });

  it('200 and an error event for an event that is too large; the provider is aborted and what came is billed', async () => {
    const next = bench.provider.next();
    bench.provider.script = async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      await flush(response, chunk(delta('Hello')));
      writeWithoutEnd(response, 'data: ', 'x'.repeat(65_536));
    };
    const response = await bench.gateway.chat(bench.key.secret, { stream: true });
    assert.match(
      await response.text(),
      /^data: \{.*\n\ndata: \{"error":\{.*"code":"upstream_error"\}\}\n\n$/,
    );
    await (await next).aborted;
    const { upstreamError, tokensGenerated } = await bench.recordOf(response);
    assert.deepEqual([upstreamError, tokensGenerated], ['sent an event that is too large', 1]);
  });

  it('200 and an error event for an event that would need too much memory', async () => {
    bench.provider.script = sse(
      chunk(delta('Hello')),
      `data: {"choices":[${'{},'.repeat(1_000_000)}{}]}\n\n`,
    );
    const response = await bench.gateway.chat(bench.key.secret, { stream: true });
    assert.match(
      await response.text(),
      /^data: \{.*\n\ndata: \{"error":\{.*"code":"upstream_error"\}\}\n\n$/,
    );
    assert.equal((await bench.recordOf(response)).upstreamError, 'sent an event that is too large');
  });

  for (const [title, content] of [
    ['ten megabytes of brackets', '['.repeat(10_000_000)],
    ['ten megabytes of nested lists', `{"choices":${'['.repeat(5_000_000)}${']'.repeat(5_000_000)}}`],
    ['three million objects', `{"choices":[${'{},'.repeat(3_000_000)}{}]}`],
  ] as const) {
    it(`502 for ${title}, with nothing billed`, async () => {
      bench.provider.script = json(content);
      const { costMicroPkr } = await refused(await bench.gateway.chat(bench.key.secret));
      assert.equal(costMicroPkr, 0n);
    });
  }

  for (const depth of [400, 5_000, 20_000]) {
    it(`502 for the input of a tool that is nested ${depth} levels, billed by the usage beside it`, async () => {
      const input = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
      const block = `{"type":"tool_use","id":"t","name":"f","input":${input}}`;
      bench.provider.script = json(
        `{"type":"message","role":"assistant","content":[${block}],"stop_reason":"tool_use","usage":{"input_tokens":9,"output_tokens":400}}`,
      );
      const messages = [{ role: 'user', content: 'Hi' }];
      for (const path of ['/v1/messages', '/v1/chat/completions', '/v1/responses']) {
        const asked = path === '/v1/responses' ? { input: 'Hi' } : { messages };
        const response = await bench.gateway.post(path, bench.key.secret, {
          model: 'odd/messages',
          ...asked,
        });
        assert.equal(response.status, 502);
        const { promptTokens, tokensGenerated, tokensEstimated } = await bench.recordOf(response);
        assert.deepEqual([promptTokens, tokensGenerated, tokensEstimated], [9, 400, false]);
      }
    });

    it(`200 with an error in place of an event that is nested ${depth} levels`, async () => {
      const input = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
      const start = `event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"f","input":${input}}}\n\n`;
      for (const path of ['/v1/messages', '/v1/chat/completions']) {
        bench.provider.script = sse(start);
        const asked = { model: 'odd/messages', messages: [{ role: 'user', content: 'Hi' }], stream: true };
        const response = await bench.gateway.post(path, bench.key.secret, asked);
        assert.match(await response.text(), /"error":/);
        assert.equal((await bench.recordOf(response)).upstreamError, 'sent an event that is too large');
      }
    });

    it(`200 for the arguments of a tool that are nested ${depth} levels: they are a text`, async () => {
      const written = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
      const call = { id: 'c', type: 'function', function: { name: 'f', arguments: written } };
      const answer = completion('x', { prompt: 9, completion: 400 });
      const message = { role: 'assistant', content: null, tool_calls: [call] };
      bench.provider.script = json({
        ...answer,
        choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
      });
      for (const path of ['/v1/messages', '/v1/chat/completions', '/v1/responses']) {
        const asked =
          path === '/v1/responses' ? { input: 'Hi' } : { messages: [{ role: 'user', content: 'Hi' }] };
        const response = await bench.gateway.post(path, bench.key.secret, { model: 'odd/chat', ...asked });
        assert.equal(response.status, 200, await response.text());
        assert.equal((await bench.recordOf(response)).tokensGenerated, 400);
      }
    });
  }

  it('502 for a structure that is too large, billed by the usage in it', async () => {
    bench.provider.script = json(
      `{"choices":[${'{},'.repeat(1_000_000)}{}],"usage":${JSON.stringify(usageOf({ prompt: 9, completion: 400 }))}}`,
    );
    const record = await refused(await bench.gateway.chat(bench.key.secret));
    assert.deepEqual(
      [record.tokensGenerated, record.tokensEstimated, record.costMicroPkr],
      [400, false, 9n * 70n + 400n * 560n],
    );
  });

  for (const [title, end, tokensGenerated, tokensEstimated] of [
    [
      'billed by the usage at its end',
      `","usage":${JSON.stringify(usageOf({ prompt: 9, completion: 900 }))}}`,
      900,
      false,
    ],
    ['billed for the prompt where it has no usage', '"}', 0, true],
  ] as const) {
    it(`502 for an answer that is too large, ${title}`, async () => {
      bench.provider.script = async (response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write('{"choices":[],"x":"');
        const part = 'x'.repeat(1024 * 1024);
        for (let sent = 0; sent <= MAX_ANSWER_BYTES; sent += part.length) await flush(response, part);
        response.end(end);
      };
      const response = await bench.gateway.chat(bench.key.secret);
      await assertError(response, { status: 502, code: 'upstream_error', type: 'upstream_error' });
      const record = await bench.assertRecord(response, { tokensGenerated, tokensEstimated });
      assert.equal(record.upstreamError, `answered with more than ${MAX_ANSWER_BYTES} bytes`);
      assert.ok(record.costMicroPkr > 0n);
    });
  }

  it('200 and an error event at the timeout of the route for a stream that never ends', async () => {
    const next = bench.provider.next();
    bench.provider.script = async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      await flush(response, chunk(delta('Hello')));
      writeWithoutEnd(response, '', ': ping\n\n');
    };
    const response = await bench.gateway.chat(bench.key.secret, { stream: true });
    const reader = response.body?.getReader() ?? assert.fail();
    await reader.read();
    bench.gateway.time.fire(ROUTE_TIMEOUT_MS);
    let last = '';
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      last = (last + Buffer.from(part.value).toString()).slice(-1_000);
    }
    assert.match(last, /upstream_timeout/);
    await (await next).aborted;
  });

  it('200 without the credential that the provider repeats, as JSON and in a stream', async () => {
    const escaped = `\\u0073${PLATFORM_KEY.slice(1)}`;
    for (const spelling of [PLATFORM_KEY, escaped]) {
      bench.provider.script = json(answer.replace('Hello', `  your key: ${spelling}`), 200, {
        'content-type': `application/json; key=${PLATFORM_KEY}`,
      });
      const response = await bench.gateway.chat(bench.key.secret);
      assert.equal(response.headers.get('content-type'), 'application/json; key=[redacted]');
      assert.equal(await response.text(), answer.replace('Hello', '  your key: [redacted]'));
    }
    const events = `${chunk(delta(`My key: ${PLATFORM_KEY}`))}${chunk(delta('!', 'stop'))}${DONE}`;
    for (const at of [100, 250, events.length - 100]) {
      bench.provider.script = sse(events.slice(0, at), events.slice(at));
      const stream = await (await bench.gateway.chat(bench.key.secret, { stream: true })).text();
      assert.equal(stream, events.replace(PLATFORM_KEY, '[redacted]'));
    }
  });
});

/** Writes until the reader stops. */
function writeWithoutEnd(response: ServerResponse, first: string, part: string): void {
  response.write(first);
  const more = () => {
    if (!response.destroyed) response.write(part, () => setImmediate(more));
  };
  more();
}
