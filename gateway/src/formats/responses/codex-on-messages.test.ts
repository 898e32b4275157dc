import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../wire/json.ts';
import { translateAnswer, translateRequest } from '../translation/index.ts';
import { sealToText } from '../translation/reasoning.ts';
import { CODEX_LATER } from './codex-body.fixture.ts';
import {
  closeCall,
  functionCall,
  itemsDone,
  last,
  message,
  PATCH,
  patchCall,
  shell,
} from './codex-items.fixture.ts';
import { ID, namedStream, notesOf, OPTIONS, translateStream } from './translated-stream.fixture.ts';

describe('Codex on a provider of messages', () => {
  const start = {
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-2026',
      content: [],
      usage: {
        input_tokens: 15,
        cache_read_input_tokens: 5,
        cache_creation_input_tokens: 0,
        output_tokens: 1,
      },
    },
  };
  const begin = (index: number, block: JsonObject) => ({
    type: 'content_block_start',
    index,
    content_block: block,
  });
  const delta = (index: number, type: string, members: JsonObject) => ({
    type: 'content_block_delta',
    index,
    delta: { type, ...members },
  });
  const stop = (index: number) => ({ type: 'content_block_stop', index });
  const end = (reason: string) => [
    {
      type: 'message_delta',
      delta: { stop_reason: reason, stop_sequence: null },
      usage: { output_tokens: 9 },
    },
    { type: 'message_stop' },
  ];
  const tool = (index: number, id: string, name: string, json: string) => [
    begin(index, { type: 'tool_use', id, name, input: {} }),
    delta(index, 'input_json_delta', { partial_json: json.slice(0, 5) }),
    delta(index, 'input_json_delta', { partial_json: json.slice(5) }),
    stop(index),
  ];
  const overMessages = (events: (JsonObject & { type: string })[]) =>
    translateStream('responses', 'messages', CODEX_LATER, namedStream(events));
  const seal = { kind: 'signature', value: 'EqQB' } as const;

  it('gets thinking with its signature, text and parallel calls of its own tools', () => {
    const translated = overMessages([
      start,
      { type: 'ping' },
      begin(0, { type: 'thinking', thinking: '', signature: '' }),
      delta(0, 'thinking_delta', { thinking: 'I th' }),
      delta(0, 'thinking_delta', { thinking: 'ink.' }),
      delta(0, 'signature_delta', { signature: 'EqQB' }),
      stop(0),
      begin(1, { type: 'text', text: '' }),
      delta(1, 'text_delta', { text: 'Löok 🙂' }),
      stop(1),
      ...tool(2, 'toolu_a', 'exec_command', '{"cmd":"ls"}'),
      ...tool(3, 'toolu_b', 'apply_patch', JSON.stringify({ input: PATCH })),
      ...tool(4, 'toolu_c', 'multi_agent_v1__close_agent', '{"target":"a"}'),
      ...end('tool_use'),
    ]);
    const output = [
      {
        id: `rs_${ID}_0`,
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'I think.' }],
        encrypted_content: sealToText(seal),
      },
      message(1, 'Löok 🙂'),
      functionCall(2, 'toolu_a', shell),
      patchCall(3, 'toolu_b'),
      closeCall(4, 'toolu_c'),
    ];
    assert.deepEqual(itemsDone(translated), output);
    assert.deepEqual(last(translated)['output'], output);
    const { input_tokens, output_tokens } = last(translated)['usage'] as JsonObject;
    assert.deepEqual([input_tokens, output_tokens], [20, 9]);
  });

  it('sends the thinking back signed as it was', () => {
    const answer = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-2026',
      content: [
        { type: 'thinking', thinking: 'I think.', signature: 'EqQB' },
        { type: 'redacted_thinking', data: 'x' },
        { type: 'text', text: 'Hi' },
      ],
      stop_reason: 'end_turn',
      usage: { input_tokens: 1, output_tokens: 2 },
    };
    const notes = notesOf('responses', 'messages', CODEX_LATER);
    const written = translateAnswer('messages', 'responses', answer, notes);
    assert.ok(written);
    const input = [{ role: 'user', content: 'Hi' }, ...(written['output'] as JsonObject[])];
    const { body } = translateRequest('responses', 'messages', { model: 'm', input }, OPTIONS);
    assert.deepEqual((body['messages'] as JsonObject[])[1]?.['content'], answer.content);
  });

  it('sends no thinking that nothing follows: Anthropic refuses it', () => {
    const seal = (value: string) => sealToText({ kind: 'signature', value });
    const thought = (value: string) => ({ type: 'reasoning', summary: [], encrypted_content: seal(value) });
    const input = [
      { role: 'user', content: 'Hi' },
      ...[thought('a'), { role: 'assistant', content: 'b ' }, thought('c')],
    ];
    const { body, dropped } = translateRequest('responses', 'messages', { model: 'm', input }, OPTIONS);
    assert.deepEqual((body['messages'] as JsonObject[])[1]?.['content'], [
      { type: 'thinking', thinking: '', signature: 'a' },
      { type: 'text', text: 'b' },
    ]);
    assert.deepEqual(dropped, ['reasoning']);
  });

  it('is told that the answer was refused, and of an error', () => {
    const refused = overMessages([start, ...end('refusal')]);
    assert.deepEqual(last(refused)['incomplete_details'], { reason: 'content_filter' });
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    const failed = overMessages([start, begin(0, { type: 'text', text: '' }), error]);
    assert.deepEqual(last(failed)['error'], { code: 'overloaded_error', message: 'Overloaded' });
    const limit = { type: 'error', error: { type: 'rate_limit_error', message: 'Wait' } };
    assert.deepEqual(last(overMessages([start, limit]))['error'], {
      code: 'rate_limit_exceeded',
      message: 'Wait',
    });
  });
});
