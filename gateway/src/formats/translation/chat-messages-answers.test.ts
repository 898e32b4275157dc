import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../wire/json.ts';
import { translateAnswer, translateRequest } from './index.ts';
import { notesWith, OPTIONS } from './testing.fixture.ts';

describe('an answer', () => {
  const usage = { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 4 } };

  it('of a chat provider becomes a message', () => {
    const message = {
      role: 'assistant',
      content: 'Hello.',
      reasoning_content: 'Hm.',
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
        { id: 'b', type: 'function', function: { name: 'g', arguments: 'oops' } },
      ],
    };
    const answer = {
      id: 'chatcmpl-7',
      model: 'up',
      choices: [{ message, finish_reason: 'tool_calls' }],
      usage,
    };
    assert.deepEqual(translateAnswer('chat', 'messages', answer, notesWith()), {
      id: 'msg_7',
      type: 'message',
      role: 'assistant',
      model: 'up',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: '' },
        { type: 'text', text: 'Hello.' },
        { type: 'tool_use', id: 'a', name: 'f', input: { x: 1 } },
        { type: 'tool_use', id: 'b', name: 'g', input: { invalid_arguments: 'oops' } },
      ],
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: {
        input_tokens: 6,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 4,
        output_tokens: 5,
      },
    });
  });

  it('of a messages provider becomes a chat completion', () => {
    const answer = {
      id: 'msg_7',
      model: 'up',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
        { type: 'redacted_thinking', data: 'ZGF0' },
        { type: 'text', text: 'Hel' },
        { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
        { type: 'text', text: 'lo.' },
        { type: 'tool_use', id: 'a', name: 'f', input: { x: 1 } },
      ],
      stop_reason: 'tool_use',
      usage: {
        input_tokens: 3,
        cache_read_input_tokens: 4,
        cache_creation_input_tokens: 2,
        output_tokens: 5,
      },
    };
    assert.deepEqual(translateAnswer('messages', 'chat', answer, notesWith()), {
      id: 'chatcmpl-7',
      object: 'chat.completion',
      created: 1_795_000_000,
      model: 'up',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'Hello.',
            refusal: null,
            reasoning_content: 'Hm.',
            reasoning_details: [
              {
                type: 'reasoning.text',
                text: 'Hm.',
                signature: 'c2ln',
                format: 'anthropic-claude-v1',
                index: 0,
              },
              { type: 'reasoning.encrypted', data: 'ZGF0', format: 'anthropic-claude-v1', index: 1 },
            ],
            tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } }],
          },
          logprobs: null,
          finish_reason: 'tool_calls',
        },
      ],
      usage: {
        prompt_tokens: 9,
        completion_tokens: 5,
        total_tokens: 14,
        prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 2 },
      },
    });
  });

  for (const [finish, stop] of [
    ['stop', 'end_turn'],
    ['length', 'max_tokens'],
    ['tool_calls', 'end_turn'],
    ['content_filter', 'refusal'],
    ['else', 'max_tokens'],
    [null, 'end_turn'],
  ] as const) {
    it(`that ends with ${finish} ends a message with ${stop}`, () => {
      const choices = [{ message: { content: 'x' }, finish_reason: finish }];
      assert.equal(translateAnswer('chat', 'messages', { choices }, notesWith())?.['stop_reason'], stop);
    });
  }

  it('leaves out a call without a name, for which no caller has a tool', () => {
    const content = [{ type: 'tool_use', id: 'a', name: null, input: {} }];
    const answer = translateAnswer('messages', 'chat', { content, stop_reason: 'tool_use' }, notesWith());
    assert.deepEqual(answer?.['choices'], [
      {
        index: 0,
        message: { role: 'assistant', content: '', refusal: null },
        logprobs: null,
        finish_reason: 'stop',
      },
    ]);
  });

  for (const [stop, finish] of [
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['tool_use', 'stop'],
    ['refusal', 'content_filter'],
    ['pause_turn', 'stop'],
  ] as const) {
    it(`that ends with ${stop} ends a chat completion with ${finish}`, () => {
      const answer = translateAnswer('messages', 'chat', { content: [], stop_reason: stop }, notesWith());
      assert.ok(JSON.stringify(answer).includes(`"finish_reason":"${finish}"`));
    });
  }

  for (const [name, sequence, stop] of [
    ['stop_reason', 'END', 'stop_sequence'],
    ['matched_stop', 'END', 'stop_sequence'],
    ['matched_stop', 151_645, 'end_turn'],
  ] as const) {
    it(`names the stop sequence where the provider does: ${name} ${sequence}`, () => {
      const choices = [{ message: { content: 'x' }, finish_reason: 'stop', [name]: sequence }];
      const answer = translateAnswer('chat', 'messages', { choices }, notesWith());
      const shown = stop === 'stop_sequence' ? sequence : null;
      assert.deepEqual([answer?.['stop_reason'], answer?.['stop_sequence']], [stop, shown]);
    });
  }

  const text = { type: 'text', text: 'Hello.' };
  const call = { name: 'f', arguments: '{"x":1}' };
  const listed = { tool_calls: [{ id: 'a', type: 'function', function: call }] };
  const summary = [{ type: 'summary_text', text: 'Hm.' }];
  for (const [title, messages, content] of [
    ["Copilot's text and call in a choice each", [{ content: 'Hello.' }, listed], ['text', 'tool_use']],
    ['a call before its text', [listed, { content: 'Hello.' }], ['text', 'tool_use']],
    ['alternatives', [{ content: 'Hello.' }, { content: 'Hi.' }], ['text']],
    ['the older call of a function', [{ content: null, function_call: call }], ['tool_use']],
    ['both calls of one function', [{ ...listed, function_call: call }], ['tool_use']],
    ["Databricks' reasoning", [{ content: [{ type: 'reasoning', summary }, text] }], ['thinking', 'text']],
  ] as const) {
    it(`loses nothing and repeats nothing of ${title}`, () => {
      const choices = messages.map((message) => ({ message, finish_reason: 'stop' }));
      const blocks = translateAnswer('chat', 'messages', { choices }, notesWith())?.['content'];
      const shown = { text, thinking: { type: 'thinking', thinking: 'Hm.', signature: '' } };
      const called = (id: string) => ({ type: 'tool_use', id, name: 'f', input: { x: 1 } });
      const id = title.startsWith('the older') ? 'call_1_0' : 'a';
      const expected = content.map((type) => (type === 'tool_use' ? called(id) : shown[type]));
      assert.deepEqual(blocks, expected);
    });
  }

  it('with a refusal says it as text', () => {
    const choices = [{ message: { content: null, refusal: 'No.' }, finish_reason: 'stop' }];
    const answer = translateAnswer('chat', 'messages', { choices }, notesWith());
    assert.deepEqual(
      [answer?.['stop_reason'], answer?.['content']],
      ['refusal', [{ type: 'text', text: 'No.' }]],
    );
  });

  it('without usage states the prompt as it was counted here', () => {
    const answer = translateAnswer('chat', 'messages', { choices: [{ message: {} }] }, notesWith());
    assert.deepEqual(answer?.['usage'], {
      input_tokens: 42,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: 0,
    });
  });

  for (const [stated, ofMessage, ofResponse] of [
    ['default', 'standard', 'default'],
    ['priority', 'priority', 'priority'],
    ['flex', undefined, 'flex'],
    ['on_demand', 'standard', 'default'],
    ['performance', undefined, 'default'],
  ] as const) {
    it(`says the service tier ${stated} in the words of the caller’s format`, () => {
      const answer = { choices: [{ message: { content: 'Hi' } }], service_tier: stated };
      const written = translateAnswer('chat', 'messages', answer, notesWith());
      const told = written?.['usage'] as JsonObject;
      assert.equal(told['service_tier'], ofMessage);
      const response = translateAnswer('chat', 'responses', answer, notesWith());
      assert.equal(response?.['service_tier'], ofResponse);
    });
  }

  for (const [stated, shown] of [
    ['standard', 'default'],
    ['priority', 'priority'],
    ['batch', undefined],
  ] as const) {
    it(`says the service tier ${stated} of a message in OpenAI’s words`, () => {
      const answer = { content: [], usage: { input_tokens: 1, output_tokens: 1, service_tier: stated } };
      assert.equal(translateAnswer('messages', 'chat', answer, notesWith())?.['service_tier'], shown);
    });
  }

  it('is none in another format', () => {
    for (const answer of [
      {},
      { error: { message: 'x' } },
      { choices: [] },
      { choices: [{}] },
      { choices: null, content: null },
      { choices: 'x', content: 'x' },
    ]) {
      assert.equal(translateAnswer('chat', 'messages', answer, notesWith()), undefined);
      assert.equal(translateAnswer('messages', 'chat', answer, notesWith()), undefined);
    }
  });

  it('comes back through the caller with all that its provider wants back', () => {
    const extra = { google: { thought_signature: 's' } };
    const details = [{ type: 'reasoning.text', text: 'Hm.', signature: 'x', format: 'google-gemini-v1' }];
    const call = {
      id: 'a',
      type: 'function',
      function: { name: 'f', arguments: '{}' },
      extra_content: extra,
    };
    const message = { role: 'assistant', content: null, reasoning_details: details, tool_calls: [call] };
    const answer = translateAnswer('chat', 'messages', { choices: [{ message }] }, notesWith());
    const turn = { role: 'assistant', content: answer?.['content'] };
    const request = { model: 'm', max_tokens: 9, messages: [turn] };
    const options = { ...OPTIONS, keep: ['reasoning_details', 'extra_content'] };
    const { body } = translateRequest('messages', 'chat', request, options);
    assert.deepEqual((body['messages'] as unknown[])[0], message);
  });
});
