import assert from 'node:assert/strict';
import { afterEach, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { useBench } from '../testing/bench.ts';
import {
  blockStart,
  event,
  MESSAGE_STOP,
  messageDelta,
  messageStart,
  PING,
  textDelta,
  textMessage,
} from '../testing/mock-messages.ts';
import { flush, json, type Script, sse } from '../testing/mock-provider.ts';
import { assertNoDelays } from '../testing/no-delays.ts';
import { addRoute, PLATFORM_KEY, ROUTE_TIMEOUT_MS } from '../testing/test-gateway.ts';

const MODEL = 'mock/claude';
const start = messageStart({ input_tokens: 9, output_tokens: 1 });
const stop = [messageDelta({ output_tokens: 4 }), MESSAGE_STOP];
const ERROR_EVENT = /event: error\ndata: \{"type":"error","error":\{"type":"[a-z_]+","message":"[^\n]*\n\n$/;

const bench = await useBench();

describe('a provider of messages that lies', () => {
  before(() =>
    addRoute(bench.database, {
      id: MODEL,
      protocol: 'anthropic',
      endpoints: ['messages'],
      baseUrl: bench.provider.baseUrl,
    }),
  );
  afterEach(() => assertNoDelays(bench.gateway.time));

  const ask = (stream: boolean) =>
    bench.gateway.post('/v1/messages', bench.key.secret, {
      model: MODEL,
      max_tokens: 100,
      stream,
      messages: [{ role: 'user', content: 'Hi' }],
    });
  /** The text of a stream and its record; its record must be there, whatever it is. */
  const streamed = async (script: Script) => {
    bench.provider.script = script;
    const response = await ask(true);
    const text = await response.text();
    return { text, record: await bench.recordOf(response) };
  };

  // Each ends in order and is settled by what can be true.
  for (const [title, events, prompt, generated, isEstimated] of [
    ['its events out of order', [...stop.slice(0, 1), textDelta('Hello'), start, ...stop], 9, 4, false],
    ['a start after a start', [start, start, textDelta('Hello'), ...stop], 9, 4, false],
    ['content in a block that never began', [start, textDelta('Hello', 99), ...stop], 9, 4, false],
    [
      'a negative usage',
      [start, textDelta('Hello there'), messageDelta({ output_tokens: -4 }), MESSAGE_STOP],
      9,
      2,
      true,
    ],
    [
      'a huge usage',
      [start, textDelta('Hello'), messageDelta({ output_tokens: 10 ** 15 }), MESSAGE_STOP],
      9,
      1_000,
      true,
    ],
    [
      'a usage that is a text',
      [start, textDelta('Hello there'), messageDelta('9' as unknown as object), MESSAGE_STOP],
      9,
      2,
      true,
    ],
    ['no usage', [messageStart(), textDelta('Hello'), messageDelta(), MESSAGE_STOP], 8, 1, true],
    [
      'zeros for the prompt at the end',
      [start, textDelta('Hello'), messageDelta({ input_tokens: 0, output_tokens: 4 }), MESSAGE_STOP],
      9,
      4,
      false,
    ],
    [
      'data that is no JSON',
      [start, 'event: x\ndata: {"type":\n\n', textDelta('Hello'), ...stop],
      9,
      4,
      false,
    ],
    [
      'members of odd types',
      [start, event('content_block_start', { content_block: { type: { toString: 1 } } }), ...stop],
      9,
      4,
      false,
    ],
  ] as const) {
    it(`200 with a stream of ${title}`, async () => {
      const { text, record } = await streamed(sse(...events));
      assert.equal(text, events.join(''));
      assert.deepEqual(
        [record.promptTokens, record.tokensGenerated, record.tokensEstimated, record.terminationReason],
        [prompt, generated, isEstimated, 'success'],
      );
    });
  }

  it('200 and an error event for a stream of only an end mark, which costs nothing', async () => {
    const { text, record } = await streamed(sse(MESSAGE_STOP));
    assert.match(text, ERROR_EVENT);
    assert.deepEqual([record.terminationReason, record.costMicroPkr], ['upstream_stream_aborted', 0n]);
  });

  it('200 with nothing that follows the end mark', async () => {
    const { text } = await streamed(sse(start, ...stop, textDelta('more'), MESSAGE_STOP));
    assert.equal(text, [start, ...stop].join(''));
  });

  it('200 and an error event for a stream that ends without an end', async () => {
    const { text, record } = await streamed(sse(start, textDelta('Hello')));
    assert.match(text.slice(start.length), ERROR_EVENT);
    assert.deepEqual(
      [record.terminationReason, record.promptTokens, record.tokensGenerated],
      ['upstream_stream_aborted', 9, 1],
    );
  });

  for (const [title, piece] of [
    [
      'an event that is too large',
      `data: {"type":"content_block_delta","delta":{"text":"${'x'.repeat(5_000_000)}"}}\n\n`,
    ],
    ['an event of too many values', `data: {"type":"x","y":[${'{},'.repeat(1_000_001)}{}]}\n\n`],
    ['an event that is too deep', `data: ${'['.repeat(100_000)}${']'.repeat(100_000)}\n\n`],
  ] as const) {
    it(`200 and an error event for ${title}, and what came is billed`, async () => {
      const { text, record } = await streamed(sse(start, textDelta('Hello'), piece));
      assert.match(text.slice(start.length), ERROR_EVENT);
      assert.deepEqual(
        [record.upstreamError, record.promptTokens, record.tokensGenerated],
        ['sent an event that is too large', 9, 1],
      );
    });
  }

  it('200 and an error event at the time limit for a stream of pings that never ends', async () => {
    bench.provider.script = async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let sent = 0; sent < 20; sent += 1) await flush(response, PING);
    };
    const response = await ask(true);
    const reader = response.body?.getReader() ?? assert.fail();
    let text = '';
    while (text.length < 20 * PING.length) text += Buffer.from((await reader.read()).value ?? []);
    assert.equal(text, PING.repeat(20));
    bench.gateway.time.fire(ROUTE_TIMEOUT_MS);
    let last = '';
    for (let read = await reader.read(); !read.done; read = await reader.read())
      last += Buffer.from(read.value);
    assert.match(last, ERROR_EVENT);
    await bench.assertRecord(response, {
      terminationReason: 'proxy_guillotine',
      costMicroPkr: 0n,
      ttftMs: null,
    });
  });

  for (const [title, script] of [
    [
      'gzip that was not asked for',
      (response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
        response.end(gzipSync(JSON.stringify(textMessage('x', { input_tokens: 9, output_tokens: 4 }))));
      },
    ],
    ['a redirect', json('{}', 307, { location: 'http://127.0.0.1:1/' })],
    ['a page of HTML', json('<html></html>', 200, { 'content-type': 'text/html' })],
    ['JSON that is cut off', json('{"type":"message","content":[{"type":"te')],
    ['a structure that is too large', json(`{"content":[${'{},'.repeat(1_500_000)}{}]}`)],
  ] as const satisfies readonly (readonly [string, Script])[]) {
    for (const stream of [false, true]) {
      it(`502 for ${title} (stream: ${stream}), at no cost`, async () => {
        bench.provider.script = script;
        const response = await ask(stream);
        assert.equal(response.status, 502);
        const { type, error } = (await response.json()) as { type: string; error: { type: string } };
        assert.deepEqual([type, error.type], ['error', 'api_error']);
        await bench.assertRecord(response, { status: 502, costMicroPkr: 0n });
      });
    }
  }

  it('200 with the events of an answer whose provider ignores the request for a stream', async () => {
    const answer = JSON.stringify(textMessage('x', { input_tokens: 9, output_tokens: 4 }));
    bench.provider.script = json(answer);
    const response = await ask(true);
    assert.match(response.headers.get('content-type') ?? '', /^text\/event-stream/);
    const text = await response.text();
    assert.match(text, /^event: message_start\n/);
    assert.match(text, /"text_delta","text":"x"/);
    assert.match(text, /event: message_stop\ndata: [^\n]*\n\n$/);
    await bench.assertRecord(response, { promptTokens: 9, tokensGenerated: 4, tokensEstimated: false });
  });

  it("200 without the provider's credential in the name of a tool, in an escape, and in an error", async () => {
    const [first = ''] = PLATFORM_KEY;
    const escaped = `\\u${first.charCodeAt(0).toString(16).padStart(4, '0')}${PLATFORM_KEY.slice(1)}`;
    const { text, record } = await streamed(
      sse(
        start,
        blockStart({ type: 'tool_use', id: 't', name: PLATFORM_KEY, input: { key: PLATFORM_KEY } }),
        `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"${escaped}"}}\n\n`,
        event('error', { error: { type: 'api_error', message: `bad key ${PLATFORM_KEY}` } }),
      ),
    );
    assert.ok(!text.includes(PLATFORM_KEY.slice(4)), text);
    assert.equal(text.split('[redacted]').length, 5);
    assert.equal(record.upstreamError, 'bad key [redacted]');
  });
});
