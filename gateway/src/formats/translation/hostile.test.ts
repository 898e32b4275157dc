import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { seedsUpTo } from '@gatehouse/concurrency/testing';
import { randomFrom } from '../../journal/testing/random.ts';
import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import { BodyError } from '../call.ts';
import { CHAT_SAMPLES } from './feature-samples-chat.fixture.ts';
import { MESSAGES_SAMPLES } from './feature-samples-messages.fixture.ts';
import { RESPONSES_SAMPLES } from './feature-samples-responses.fixture.ts';
import { TRANSLATED_FORMATS, type TranslatedFormat } from './feature-table.ts';
import { translateAnswer, translateRequest } from './index.ts';
import {
  callChunk,
  chunk,
  createStreamTranslator,
  eventsIn,
  notesWith,
  OPTIONS,
  streamOf,
} from './testing.fixture.ts';

// Whatever callers and providers send, a request is translated or refused with a BodyError, an answer is translated or
// none, and a stream goes on or ends in order. What is sent is what is right, with some of its values replaced.

const DIRECTIONS = TRANSLATED_FORMATS.flatMap((from) =>
  TRANSLATED_FORMATS.filter((to) => to !== from).map((to) => [from, to] as const),
);
const KEEP = ['reasoning_content', 'reasoning_details', 'extra_content', 'system_turns'];
const STRANGE: readonly unknown[] = [
  ...[null, true, 0, -1, 1e308, '', 'text', '{"a":', '\ud800', [], {}, [[]], [null], ['x'], { type: 'text' }],
  ...[{ type: {} }, { length: 5 }, { toString: 1 }, '__proto__', JSON.parse('{"__proto__":{"type":"text"}}')],
  ...['data:image/png;base64,AA', 'gatehouse.v1.e30', 'x'.repeat(200), { role: 'user', content: [] }, 1.5],
  ...['9007199254740993', '1.0', '-0', '1e400'].map((number) => JSON.rawJSON(number)),
];

/** The value with some of the values within it replaced by strange ones, removed, or repeated. */
function mutated(value: unknown, random: () => number): unknown {
  if (random() < 0.04) return STRANGE[Math.floor(random() * STRANGE.length)];
  if (Array.isArray(value)) {
    return value.flatMap((item) => {
      const dice = random();
      if (dice < 0.03) return [];
      return dice < 0.06 ? [mutated(item, random), mutated(item, random)] : [mutated(item, random)];
    });
  }
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) =>
      random() < 0.03 ? [] : [[name, mutated(member, random)]],
    ),
  );
}

const said = [{ role: 'user', content: 'Hi' }];
const REQUESTS: Readonly<Record<TranslatedFormat, readonly JsonObject[]>> = {
  chat: Object.values(CHAT_SAMPLES).map(({ body }) => ({ model: 'm', messages: said, ...body })),
  messages: Object.values(MESSAGES_SAMPLES).map(({ body }) => ({
    model: 'm',
    max_tokens: 9,
    messages: said,
    ...body,
  })),
  responses: Object.values(RESPONSES_SAMPLES).map(({ body }) => ({ model: 'm', input: 'Hi', ...body })),
};

const calls = [{ id: 'a', index: 0, type: 'function', function: { name: 'f', arguments: '{"x":1}' } }];
const details = [{ type: 'reasoning.text', text: 'Hm.', signature: 's', index: 0 }];
const ANSWERS: Readonly<Record<TranslatedFormat, JsonObject>> = {
  chat: {
    id: 'chatcmpl-1',
    model: 'up',
    choices: [
      {
        message: {
          content: 'x',
          refusal: 'y',
          reasoning_content: 'z',
          reasoning_details: details,
          tool_calls: calls,
        },
        finish_reason: 'stop',
      },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 2 },
  },
  messages: {
    id: 'msg_1',
    model: 'up',
    content: [
      { type: 'thinking', thinking: 'Hm.', signature: 's' },
      { type: 'redacted_thinking', data: 'd' },
      { type: 'text', text: 'x' },
      { type: 'tool_use', id: 'a', name: 'f', input: { x: 1 } },
    ],
    stop_reason: 'tool_use',
    usage: { input_tokens: 1, output_tokens: 2 },
  },
  responses: {
    id: 'resp_1',
    model: 'up',
    status: 'completed',
    output: [
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'Hm.' }],
        encrypted_content: 'e',
      },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'x' }] },
      { type: 'function_call', call_id: 'a', name: 'f', arguments: '{"x":1}' },
    ],
    usage: { input_tokens: 1, output_tokens: 2 },
  },
};

const STREAMS: Readonly<Record<TranslatedFormat, readonly unknown[]>> = {
  chat: [
    chunk({ role: 'assistant', content: '' }),
    chunk({ reasoning_details: details }),
    chunk({ content: 'x' }),
    callChunk(0, { id: 'a', function: { name: 'f', arguments: '{' }, extra_content: { google: {} } }),
    callChunk(1, { id: 'b', function: { name: 'g', arguments: '{}' } }),
    callChunk(0, { function: { arguments: '}' } }),
    chunk({}, 'tool_calls'),
    { choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } },
    '[DONE]',
  ],
  messages: [
    {
      type: 'message_start',
      message: { id: 'msg_1', model: 'up', usage: { input_tokens: 9, output_tokens: 1 } },
    },
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'thinking', thinking: '', signature: '' },
    },
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Hm.' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 's' } },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'content_block_start',
      index: 1,
      content_block: { type: 'tool_use', id: 'a', name: 'f', input: {} },
    },
    { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"x":1}' } },
    { type: 'content_block_stop', index: 1 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 5 } },
    { type: 'message_stop' },
  ],
  responses: [
    { type: 'response.created', response: { id: 'resp_1', model: 'up' } },
    { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'msg_1' } },
    { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'x' },
    { type: 'response.output_item.done', output_index: 0, item: { type: 'message', id: 'msg_1' } },
    {
      type: 'response.output_item.added',
      output_index: 1,
      item: { type: 'function_call', call_id: 'a', name: 'f' },
    },
    { type: 'response.function_call_arguments.delta', output_index: 1, delta: '{"x":1}' },
    {
      type: 'response.output_item.done',
      output_index: 1,
      item: { type: 'function_call', call_id: 'a', name: 'f' },
    },
    {
      type: 'response.completed',
      response: { status: 'completed', usage: { input_tokens: 1, output_tokens: 2 } },
    },
  ],
};

describe('hostile shapes', () => {
  for (const [from, to] of DIRECTIONS) {
    it(`of a ${from} request for ${to} are translated or refused`, () => {
      let translated = 0;
      let refused = 0;
      for (const seed of seedsUpTo(1_000)) {
        const random = randomFrom(seed);
        const requests = REQUESTS[from];
        const body = mutated(requests[seed % requests.length], random);
        if (!isJsonObject(body)) continue;
        try {
          const { body: written, dropped } = translateRequest(from, to, body, { ...OPTIONS, keep: KEEP });
          assert.ok(JSON.stringify(written).length > 0 && dropped.length <= 33);
          translated += 1;
        } catch (error) {
          assert.ok(
            error instanceof BodyError,
            `seed ${seed}: ${error instanceof Error ? error.stack : error}`,
          );
          assert.ok(error.message.length < 1_000 && error.message.isWellFormed());
          refused += 1;
        }
      }
      assert.ok(translated > 50 && refused > 50, `${translated} translated, ${refused} refused`);
    });

    it(`of a ${from} answer for ${to} are translated or none`, () => {
      for (const seed of seedsUpTo(1_000)) {
        const answer = mutated(ANSWERS[from], randomFrom(seed));
        if (!isJsonObject(answer)) continue;
        const written = translateAnswer(from, to, answer, notesWith({ customTools: ['f'] }));
        if (written) JSON.stringify(written);
      }
    });

    it(`of a ${from} stream for ${to} go on or end in order`, () => {
      for (const seed of seedsUpTo(1_000)) {
        const random = randomFrom(seed);
        const events = STREAMS[from].flatMap((event) => {
          const dice = random();
          const changed = mutated(event, random) ?? 'x';
          return dice < 0.05 ? [] : dice < 0.1 ? [changed, event] : [changed];
        });
        const shuffled = seed % 5 === 0 ? events.toSorted(() => random() - 0.5) : events;
        const translator = createStreamTranslator(
          from,
          to,
          notesWith({ customTools: seed % 2 === 0 ? ['f'] : [] }),
        );
        const out = Buffer.concat([translator.push(streamOf(shuffled)), translator.end()]);
        for (const event of eventsIn(out))
          assert.ok(isJsonObject(event) || event === '[DONE]', `seed ${seed}`);
      }
    });
  }
});
