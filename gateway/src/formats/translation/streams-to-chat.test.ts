import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../wire/json.ts';
import { createStreamTranslator, notesWith, streamOf, translatedStream } from './testing.fixture.ts';

const toChat = (...events: unknown[]) => translatedStream('messages', 'chat', events);

const start = {
  type: 'message_start',
  message: { id: 'msg_1', model: 'up', usage: { input_tokens: 9, output_tokens: 1 } },
};
const stop = (reason: string) => ({
  type: 'message_delta',
  delta: { stop_reason: reason },
  usage: { output_tokens: 5 },
});
const end = { type: 'message_stop' };
const block = (index: number, content_block: object) => ({
  type: 'content_block_start',
  index,
  content_block,
});
const delta = (index: number, members: object) => ({ type: 'content_block_delta', index, delta: members });
const blockStop = (index: number) => ({ type: 'content_block_stop', index });

describe('a messages stream for a chat caller', () => {
  const shown = (events: readonly (JsonObject | string)[]) =>
    events.map((event) => {
      if (typeof event === 'string') return event;
      const [choice] = event['choices'] as { delta: unknown; finish_reason: string | null }[];
      return choice ? (choice.finish_reason ?? choice.delta) : { usage: event['usage'] };
    });

  it('begins behind a byte order mark', () => {
    const translator = createStreamTranslator('messages', 'chat', notesWith({}));
    const bytes = translator.push(Buffer.concat([Buffer.from('\ufeff'), streamOf([start])]));
    assert.match(bytes.toString(), /"id":"chatcmpl-1"/);
  });

  it('has the text of blocks that the provider does not start', () => {
    const thinking = delta(0, { type: 'thinking_delta', thinking: 'Hm.' });
    const events = toChat(
      start,
      thinking,
      delta(1, { type: 'text_delta', text: 'Hi' }),
      stop('end_turn'),
      end,
    );
    assert.deepEqual(shown(events).slice(1, 4), [{ reasoning_content: 'Hm.' }, { content: 'Hi' }, 'stop']);
  });

  it('has a chunk for each delta, and usage at the end', () => {
    const events = toChat(
      start,
      { type: 'ping' },
      block(0, { type: 'thinking', thinking: '', signature: '' }),
      delta(0, { type: 'thinking_delta', thinking: 'Hm.' }),
      delta(0, { type: 'signature_delta', signature: 'c2' }),
      delta(0, { type: 'thinking_delta', thinking: '', signature: 'ln' }),
      blockStop(0),
      block(1, { type: 'redacted_thinking', data: 'ZGF0' }),
      blockStop(1),
      block(2, { type: 'text', text: '' }),
      delta(2, { type: 'text_delta', text: 'Hi' }),
      blockStop(2),
      block(3, { type: 'tool_use', id: 'a', name: 'f', input: {} }),
      delta(3, { type: 'input_json_delta', partial_json: '' }),
      delta(3, { type: 'input_json_delta', partial_json: '{"x"' }),
      delta(3, { type: 'input_json_delta', partial_json: ':1}' }),
      blockStop(3),
      block(4, { type: 'tool_use', id: 'b', name: 'g', input: {} }),
      delta(4, { type: 'input_json_delta', partial_json: '' }),
      blockStop(4),
      block(5, { type: 'tool_use', id: 'c', name: 'h', input: { y: 2 } }),
      blockStop(5),
      block(6, { type: 'tool_use', id: 'd', name: 'i', input: {} }),
      delta(6, { type: 'input_json_delta', partial_json: { z: 3 } }),
      delta(6, { type: 'text_delta', text: 'Also' }),
      blockStop(6),
      stop('tool_use'),
      end,
    );
    assert.deepEqual(events[0], {
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1_795_000_000,
      model: 'up',
      choices: [{ index: 0, delta: { role: 'assistant', content: '' }, logprobs: null, finish_reason: null }],
    });
    const call = (index: number, id: string, name: string) => ({
      tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }],
    });
    const piece = (index: number, text: string) => ({
      tool_calls: [{ index, function: { arguments: text } }],
    });
    const format = 'anthropic-claude-v1';
    assert.deepEqual(shown(events).slice(1), [
      { reasoning_content: 'Hm.' },
      { reasoning_details: [{ type: 'reasoning.text', text: 'Hm.', signature: 'c2ln', format, index: 0 }] },
      { reasoning_details: [{ type: 'reasoning.encrypted', data: 'ZGF0', format, index: 1 }] },
      { content: 'Hi' },
      call(0, 'a', 'f'),
      piece(0, '{"x"'),
      piece(0, ':1}'),
      call(1, 'b', 'g'),
      piece(1, '{}'),
      call(2, 'c', 'h'),
      piece(2, '{"y":2}'),
      call(3, 'd', 'i'),
      piece(3, '{"z":3}'),
      { content: 'Also' },
      'tool_calls',
      { usage: { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 } },
      '[DONE]',
    ]);
  });

  it('leaves out what comes after the end of the arguments', () => {
    const events = translatedStream('messages', 'chat', [
      start,
      block(0, { type: 'tool_use', id: 'a', name: 'f', input: {} }),
      delta(0, { type: 'input_json_delta', partial_json: '{"x":1' }),
      delta(0, { type: 'input_json_delta', partial_json: '}}' }),
      delta(0, { type: 'input_json_delta', partial_json: '{"x":1}' }),
      blockStop(0),
      stop('tool_use'),
    ]);
    const pieces = [{ tool_calls: [{ index: 0, function: { arguments: '{"x":1' } }] }];
    assert.deepEqual(shown(events).slice(2, 5), [
      ...pieces,
      { tool_calls: [{ index: 0, function: { arguments: '}' } }] },
      'tool_calls',
    ]);
  });

  it('leaves out a call without a name, and waits for no result then', () => {
    const events = translatedStream('messages', 'chat', [
      start,
      block(0, { type: 'tool_use', id: 'a', input: {} }),
      delta(0, { type: 'input_json_delta', partial_json: '{"x":1}' }),
      blockStop(0),
      stop('tool_use'),
      end,
    ]);
    assert.deepEqual(shown(events).slice(0, 2), [{ role: 'assistant', content: '' }, 'stop']);
  });

  it('shows no usage to a caller that did not ask for it', () => {
    const events = translatedStream('messages', 'chat', [start, stop('end_turn'), end], {
      showsUsage: false,
    });
    assert.deepEqual(shown(events), [{ role: 'assistant', content: '' }, 'stop', '[DONE]']);
  });

  it('holds the arguments of a custom tool until they are complete', () => {
    const events = translatedStream(
      'messages',
      'chat',
      [
        start,
        block(0, { type: 'tool_use', id: 'a', name: 'sent', input: {} }),
        delta(0, { type: 'input_json_delta', partial_json: '{"inp' }),
        delta(0, { type: 'input_json_delta', partial_json: 'ut":"+ \\"x\\""}' }),
        blockStop(0),
        stop('tool_use'),
      ],
      { customTools: ['sent'], toolNames: { sent: 'my patch' } },
    );
    assert.deepEqual(shown(events).slice(1, 3), [
      { tool_calls: [{ index: 0, id: 'a', type: 'custom', custom: { name: 'my patch', input: '' } }] },
      { tool_calls: [{ index: 0, custom: { input: '+ "x"' } }] },
    ]);
  });

  it('ends with the provider’s error, or not at all where it stopped in the middle', () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    assert.deepEqual(toChat(start, error, stop('end_turn'), end).at(-1), {
      error: { message: 'Overloaded', type: 'overloaded_error', param: null, code: 'overloaded_error' },
    });
    assert.equal(toChat(start, block(0, { type: 'text', text: 'Hi' })).length, 2);
  });

  it('keeps alive with a comment', () => {
    const translator = createStreamTranslator('messages', 'chat', notesWith());
    assert.equal(translator.ping().toString(), ': ping\n\n');
  });
});
