import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { JsonObject } from '../../wire/json.ts';
import { translateAnswer, translateError } from './index.ts';
import { begin, callChunk, chunk, createStreamTranslator, notesWith, streamOf } from './testing.fixture.ts';

// What the vendors' own clients make of a translated answer.

const respondWith = (body: Buffer | string, status = 200, type = 'text/event-stream') => ({
  apiKey: 'x',
  maxRetries: 0,
  fetch: async () => new Response(body, { status, headers: { 'content-type': type } }),
});
const anthropic = (body: Buffer | string, status?: number, type?: string) =>
  new Anthropic(respondWith(body, status, type)).messages;
const openai = (body: Buffer | string, status?: number, type?: string) =>
  new OpenAI(respondWith(body, status, type)).chat.completions;
const messages = [{ role: 'user' as const, content: 'Hi' }];
const request = { model: 'm', max_tokens: 9, messages };
const chatRequest = { model: 'm', messages };

function translated(from: 'chat' | 'messages', events: readonly unknown[]): Buffer {
  const translator = createStreamTranslator(from, from === 'chat' ? 'messages' : 'chat', notesWith());
  return Buffer.concat([translator.ping(), translator.push(streamOf(events)), translator.end()]);
}

const interleaved = [
  begin,
  chunk({ reasoning_content: 'Hm.' }),
  chunk({ content: 'I look.' }),
  callChunk(0, { id: 'a', function: { name: 'f', arguments: '{"x":' } }),
  callChunk(1, { id: 'b', function: { name: 'g', arguments: '{"y":[1' } }),
  callChunk(0, { function: { arguments: '"☕"}' } }),
  callChunk(1, { function: { arguments: ',2]}' } }),
  callChunk(2, { id: 'c', function: { name: 'h', arguments: '' } }),
  chunk({}, 'tool_calls'),
  {
    choices: [],
    usage: { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 4 } },
  },
  '[DONE]',
];

describe("Anthropic's client", () => {
  it('reads a stream of a chat provider', async () => {
    const message = await anthropic(translated('chat', interleaved)).stream(request).finalMessage();
    assert.deepEqual(
      message.content.map((block) => ({ ...block })),
      [
        { type: 'thinking', thinking: 'Hm.', signature: '' },
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 'a', name: 'f', input: { x: '☕' } },
        { type: 'tool_use', id: 'b', name: 'g', input: { y: [1, 2] } },
        { type: 'tool_use', id: 'c', name: 'h', input: {} },
      ],
    );
    assert.deepEqual(
      [message.stop_reason, message.usage.input_tokens, message.usage.output_tokens],
      ['tool_use', 6, 5],
    );
    assert.equal(message.usage.cache_read_input_tokens, 4);
  });

  it('throws the error of a provider in the middle of a stream', async () => {
    const events = [begin, chunk({ content: 'x' }), { error: { message: 'Busy', type: 'overloaded_error' } }];
    await assert.rejects(
      anthropic(translated('chat', events)).stream(request).finalMessage(),
      /overloaded_error.*Busy/s,
    );
  });

  it('reads a whole answer, and an error', async () => {
    const choices = [{ message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }];
    const answer = JSON.stringify(translateAnswer('chat', 'messages', { choices }, notesWith()));
    const message = await anthropic(answer, 200, 'application/json').create(request);
    assert.deepEqual(message.content, [{ type: 'text', text: 'Hello' }]);
    const error = translateError(
      429,
      Buffer.from('{"error":{"message":"Slow"}}'),
      { from: 'openai', to: 'anthropic' },
      'req_1',
    );
    await assert.rejects(anthropic(error, 429, 'application/json').create(request), (thrown) => {
      assert.ok(thrown instanceof Anthropic.RateLimitError);
      assert.match(thrown.message, /Slow/);
      return true;
    });
  });
});

describe("OpenAI's client", () => {
  const events = [
    {
      type: 'message_start',
      message: { id: 'msg_1', model: 'up', usage: { input_tokens: 9, output_tokens: 1 } },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'I look.' } },
    { type: 'content_block_stop', index: 0 },
    ...['a', 'b'].flatMap((id, index) => [
      {
        type: 'content_block_start',
        index: index + 1,
        content_block: { type: 'tool_use', id, name: 'f', input: {} },
      },
      {
        type: 'content_block_delta',
        index: index + 1,
        delta: { type: 'input_json_delta', partial_json: '{"x"' },
      },
      {
        type: 'content_block_delta',
        index: index + 1,
        delta: { type: 'input_json_delta', partial_json: ':1}' },
      },
      { type: 'content_block_stop', index: index + 1 },
    ]),
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 5 } },
    { type: 'message_stop' },
  ];

  it('reads a stream of a messages provider', async () => {
    const stream = openai(translated('messages', events)).stream({
      ...chatRequest,
      stream_options: { include_usage: true },
    });
    const completion = await stream.finalChatCompletion();
    const [choice] = completion.choices;
    assert.equal(choice?.message.content, 'I look.');
    assert.deepEqual(
      choice?.message.tool_calls?.map((call) =>
        call.type === 'function' ? [call.id, call.function.arguments] : call,
      ),
      [
        ['a', '{"x":1}'],
        ['b', '{"x":1}'],
      ],
    );
    assert.deepEqual([choice?.finish_reason, completion.usage?.total_tokens], ['tool_calls', 14]);
  });

  it('throws the error of a provider in the middle of a stream', async () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Busy' } };
    const stream = await openai(translated('messages', [events[0], error])).create({
      ...chatRequest,
      stream: true,
    });
    await assert.rejects(async () => {
      for await (const _ of stream);
    }, /Busy/);
  });

  it('reads a whole answer', async () => {
    const message: JsonObject = {
      id: 'msg_1',
      content: [{ type: 'text', text: 'Hello' }],
      stop_reason: 'end_turn',
    };
    const answer = JSON.stringify(translateAnswer('messages', 'chat', message, notesWith()));
    const completion = await openai(answer, 200, 'application/json').create(chatRequest);
    assert.equal(completion.choices[0]?.message.content, 'Hello');
  });
});
