import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import OpenAI, { APIError, AuthenticationError, RateLimitError } from 'openai';
import { useBench } from '../testing/bench.ts';
import { chunk, completion, DONE, delta, flush, json, sse, usageOf } from '../testing/mock-provider.ts';
import { issueKey } from '../testing/test-gateway.ts';

const messages = [{ role: 'user' as const, content: 'Hi' }];
const model = 'mock/model';

const bench = await useBench();

describe("OpenAI's own client, with only its address and key changed", () => {
  const client = (apiKey = bench.key.secret) =>
    new OpenAI({ apiKey, baseURL: `http://127.0.0.1:${bench.gateway.port}/v1`, maxRetries: 0 });

  it('gets an answer', async () => {
    bench.provider.script = json(completion('Hé☕.', { prompt: 3, completion: 4 }));
    const answer = await client().chat.completions.create({ model, messages });
    assert.equal(answer.choices[0]?.message.content, 'Hé☕.');
    assert.equal(answer.usage?.total_tokens, 7);
    assert.match(answer._request_id ?? '', /^[0-9a-f-]{36}$/);
  });

  it('gets a stream, without usage unless it asks', async () => {
    bench.provider.script = sse(
      chunk({ ...delta('Hé'), usage: null }),
      chunk({ ...delta('☕'), usage: null }),
      chunk({ ...delta('', 'stop'), usage: null }),
      chunk({ choices: [], usage: usageOf({ prompt: 3, completion: 4 }) }),
      DONE,
    );
    for (const asks of [false, true]) {
      const stream = await client().chat.completions.create({
        model,
        messages,
        stream: true,
        ...(asks && { stream_options: { include_usage: true } }),
      });
      let text = '';
      let total: number | undefined;
      for await (const piece of stream) {
        text += piece.choices[0]?.delta.content ?? '';
        total = piece.usage?.total_tokens ?? total;
      }
      assert.equal(text, 'Hé☕');
      assert.equal(total, asks ? 7 : undefined);
    }
  });

  it('gets the calls of tools out of a stream', async () => {
    const call = (fields: object) =>
      chunk({
        choices: [{ index: 0, delta: { tool_calls: [{ index: 0, ...fields }] }, finish_reason: null }],
      });
    bench.provider.script = sse(
      chunk({ choices: [{ index: 0, delta: { role: 'assistant', content: null }, finish_reason: null }] }),
      call({ id: 'call_1', type: 'function', function: { name: 'weather', arguments: '' } }),
      call({ function: { arguments: '{"city":' } }),
      call({ function: { arguments: '"Lahore"}' } }),
      chunk(delta('', 'tool_calls')),
      DONE,
    );
    const answer = await client().chat.completions.stream({ model, messages }).finalChatCompletion();
    const [tool] = answer.choices[0]?.message.tool_calls ?? [];
    assert.ok(tool?.type === 'function');
    assert.deepEqual([tool.function.name, tool.function.arguments], ['weather', '{"city":"Lahore"}']);
  });

  it('gets the models', async () => {
    const models = await Array.fromAsync(client().models.list());
    assert.deepEqual(
      models.map(({ id }) => id),
      [model],
    );
  });

  it('throws its own errors for our refusals', async () => {
    await assert.rejects(client('sk_svc_no').chat.completions.create({ model, messages }), (error) => {
      assert.ok(error instanceof AuthenticationError);
      assert.equal(error.code, 'invalid_api_key');
      return true;
    });
    const { secret } = await issueKey(bench.database, { rateLimitRpm: 1 });
    bench.provider.script = json(completion('x', { prompt: 1, completion: 1 }));
    await client(secret).chat.completions.create({ model, messages });
    await assert.rejects(client(secret).chat.completions.create({ model, messages }), (error) => {
      assert.ok(error instanceof RateLimitError);
      assert.equal(error.headers?.get('retry-after'), '60');
      return true;
    });
  });

  it('throws when a stream is cut, and when one ends by our time limit', async () => {
    bench.provider.script = async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      await flush(response, chunk(delta('Hé')));
      response.destroy();
    };
    const read = async () => {
      for await (const _ of await client().chat.completions.create({ model, messages, stream: true }));
    };
    await assert.rejects(read(), (error) => error instanceof APIError && error.code === 'upstream_error');
    bench.provider.script = async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      await flush(response, chunk(delta('Hé')));
    };
    const stream = await client().chat.completions.create({ model, messages, stream: true });
    await assert.rejects(
      async () => {
        for await (const _ of stream) bench.gateway.time.fire(30_000);
      },
      (error) => error instanceof APIError && error.code === 'upstream_timeout',
    );
  });
});
