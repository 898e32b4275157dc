import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import OpenAI, { APIError, BadRequestError } from 'openai';
import { READ_ON_MS } from '../attempt/read-on.ts';
import { useBench } from '../testing/bench.ts';
import { flush, json, sse } from '../testing/mock-provider.ts';
import {
  completed,
  event,
  messageEvents,
  messageItem,
  response,
  textDelta,
} from '../testing/mock-responses.ts';
import { addRoute, ROUTE_TIMEOUT_MS } from '../testing/test-gateway.ts';

const bench = await useBench();

describe("OpenAI's own client, with only its address and key changed: responses and embeddings", () => {
  before(() =>
    addRoute(bench.database, {
      id: 'mock/openai',
      baseUrl: bench.provider.baseUrl,
      endpoints: ['responses', 'embeddings'],
      flags: { surfaces: { responses: '/responses', embeddings: '/embeddings' } },
    }),
  );
  const model = 'mock/openai';
  const client = (maxRetries = 0) =>
    new OpenAI({
      apiKey: bench.key.secret,
      baseURL: `http://127.0.0.1:${bench.gateway.port}/v1`,
      maxRetries,
    });

  it('gets a response, with its tools and its usage', async () => {
    const call = {
      type: 'function_call',
      id: 'fc_1',
      call_id: 'c',
      name: 'look',
      arguments: '{}',
      status: 'completed',
    };
    bench.provider.script = json(response([messageItem('Hé☕.'), call], { input: 9, output: 4, cached: 3 }));
    const answer = await client().responses.create({ model, input: 'Hi' });
    assert.equal(answer.output_text, 'Hé☕.');
    assert.equal(answer.output[1]?.type, 'function_call');
    assert.equal(answer.usage?.input_tokens_details.cached_tokens, 3);
    assert.match(answer._request_id ?? '', /^[0-9a-f-]{36}$/);
  });

  it('gets a stream', async () => {
    const end = completed([messageItem('Hé☕')], { input: 9, output: 4 });
    bench.provider.script = sse(...messageEvents('Hé', '☕'), end);
    let text = '';
    let total: number | undefined;
    for await (const one of await client().responses.create({ model, input: 'Hi', stream: true })) {
      if (one.type === 'response.output_text.delta') text += one.delta;
      if (one.type === 'response.completed') total = one.response.usage?.total_tokens;
    }
    assert.deepEqual([text, total], ['Hé☕', 13]);
  });

  it('gets the reason in words when a stream is ended', async () => {
    const { promise: isThere, resolve: there } = Promise.withResolvers<void>();
    bench.provider.script = async (reply) => {
      reply.writeHead(200, { 'content-type': 'text/event-stream' });
      await flush(reply, textDelta('Hello'));
      there();
    };
    const stream = await client().responses.create({ model, input: 'Hi', stream: true });
    await isThere;
    await assert.rejects(
      async () => {
        for await (const one of stream) {
          if (one.type === 'response.output_text.delta') bench.gateway.time.fire(ROUTE_TIMEOUT_MS);
        }
      },
      (error: unknown) => error instanceof APIError && error.code === 'upstream_timeout',
    );
  });

  it('gets the reason in words when the provider breaks the stream', async () => {
    bench.provider.script = async (reply) => {
      reply.writeHead(200, { 'content-type': 'text/event-stream' });
      await flush(reply, textDelta('Hello'));
      reply.socket?.destroy();
    };
    const stream = await client().responses.create({ model, input: 'Hi', stream: true });
    await assert.rejects(
      async () => {
        for await (const _ of stream);
      },
      (error: unknown) => error instanceof APIError && error.code === 'upstream_error',
    );
  });

  it('gets a refusal with the member that is wrong, at once', async () => {
    const asked = bench.provider.asked.length;
    const error = await client(2)
      .responses.create({ model, input: 'Hi', background: true })
      .catch((reason: unknown) => reason);
    assert.ok(error instanceof BadRequestError && error.param === 'background');
    assert.equal(bench.provider.asked.length, asked);
  });

  it('can stop a stream', async () => {
    bench.provider.script = async (reply) => {
      reply.writeHead(200, { 'content-type': 'text/event-stream' });
      await flush(reply, event('response.created', { response: response([]) }) + textDelta('Hello'));
    };
    const stopping = new AbortController();
    const stream = await client().responses.create(
      { model, input: 'Hi', stream: true },
      { signal: stopping.signal },
    );
    for await (const one of stream) if (one.type === 'response.output_text.delta') stopping.abort();
    await bench.gateway.time.started(READ_ON_MS);
    bench.gateway.time.fire(READ_ON_MS);
  });

  it('gets vectors, which it asks for in base64 by itself', async () => {
    const bytes = Buffer.alloc(8);
    bytes.writeFloatLE(0.5, 0);
    bytes.writeFloatLE(-0.25, 4);
    bench.provider.script = json({
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: bytes.toString('base64') }],
      model: 'upstream-model',
      usage: { prompt_tokens: 2, total_tokens: 2 },
    });
    const answer = await client().embeddings.create({ model, input: 'Hello there' });
    assert.equal(bench.provider.asked.at(-1)?.body['encoding_format'], 'base64');
    assert.deepEqual(answer.data[0]?.embedding, [0.5, -0.25]);
  });

  it('gets the same vectors from a provider that knows no base64, which the client asks for', async () => {
    const vector = Array.from({ length: 1_536 }, (_, index) => Math.fround(Math.sin(index) / 40));
    const data = [0, 1].map((index) => ({ object: 'embedding', index, embedding: vector }));
    const usage = { prompt_tokens: 2, total_tokens: 2 };
    bench.provider.script = json(JSON.stringify({ object: 'list', data, model: 'upstream-model', usage }));
    const answer = await client().embeddings.create({ model, input: ['Hello', 'there'] });
    assert.match(bench.provider.asked.at(-1)?.text ?? '', /"encoding_format":"base64"/);
    for (const { embedding } of answer.data) assert.deepEqual(embedding, vector);
  });
});
