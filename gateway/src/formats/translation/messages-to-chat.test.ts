import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { claudeCodeBody } from '../../testing/claude-code-body.ts';
import { translateRequest } from './index.ts';
import { sealToText } from './reasoning.ts';
import { OPTIONS } from './testing.fixture.ts';

// Requests as a whole; single features are tried by feature-table.test.ts.

const messages = [{ role: 'user', content: 'Hi' }];
const toChat = (members: object, keep: readonly string[] = []) =>
  translateRequest(
    'messages',
    'chat',
    { model: 'm', max_tokens: 9, messages, ...members },
    { ...OPTIONS, keep },
  );

describe('a messages request for a chat provider', () => {
  it('of a coding agent is a chat request', () => {
    const { body, dropped } = translateRequest('messages', 'chat', JSON.parse(claudeCodeBody()), OPTIONS);
    const roles = (body['messages'] as { role: string }[]).map(({ role }) => role);
    // What it says between a call and its result follows the result.
    assert.deepEqual(roles, ['system', 'user', 'assistant', 'tool', 'system']);
    assert.deepEqual(dropped, ['context_management', 'cache_control', 'thinking', 'metadata.user_id']);
    assert.equal((body['tools'] as unknown[]).length, 25);
    assert.equal(body['max_completion_tokens'], 64_000);
    assert.equal(body['stream'], true);
  });

  for (const [title, system] of [
    [
      'alone',
      [
        { type: 'text', text: 'x-anthropic-billing-header: a=1;' },
        { type: 'text', text: 'Be kind.' },
      ],
    ],
    ['before the prompt', 'x-anthropic-billing-header: a=1;\nBe kind.'],
  ] as const) {
    it(`leaves out the attribution line of Claude Code: ${title}`, () => {
      const { body, dropped } = toChat({ system });
      assert.deepEqual(body['messages'], [{ role: 'system', content: 'Be kind.' }, ...messages]);
      assert.deepEqual(dropped, ['system[x-anthropic-billing-header]']);
    });
  }

  it('of a coding agent is in the order that Mistral demands, for a strict provider', () => {
    const { body } = translateRequest('messages', 'chat', JSON.parse(claudeCodeBody()), {
      ...OPTIONS,
      isStrict: true,
    });
    const said = body['messages'] as { role: string; content: string }[];
    assert.deepEqual(
      said.map(({ role }) => role),
      ['system', 'user', 'assistant', 'tool', 'assistant', 'user'],
    );
    assert.equal(said[4]?.content, 'OK.');
    assert.match(said[5]?.content ?? '', /^<system>\n.*\n<\/system>$/s);
  });

  it('names the members of messages that the format does not have', () => {
    const { dropped } = toChat({
      messages: [{ ...messages[0], cache_control: { type: 'ephemeral' }, id: null }],
    });
    assert.deepEqual(dropped, ['messages[].cache_control']);
  });

  it('says several texts as one: not every server takes a list of them', () => {
    const texts = [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ];
    const { body } = toChat({
      system: texts,
      messages: [
        { role: 'user', content: texts },
        {
          role: 'assistant',
          content: [...texts, { type: 'tool_use', id: 't', name: 'f', input: {} }],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: texts }] },
      ],
    });
    const said = (body['messages'] as { content: unknown }[]).map(({ content }) => content);
    assert.deepEqual(said, Array(4).fill('a\n\nb'));
  });

  it('has a call with nothing for the input null', () => {
    const content = [{ type: 'tool_use', id: 'a', name: 'f', input: null }];
    const { body } = toChat({ messages: [...messages, { role: 'assistant', content }] });
    const [, turn] = body['messages'] as { tool_calls: { function: object }[] }[];
    assert.deepEqual(turn?.tool_calls[0]?.function, { name: 'f', arguments: '{}' });
  });

  it('is one turn of an assistant whose blocks came as messages of their own', () => {
    const signature = sealToText({ kind: 'plain', value: 'Hm.' });
    const blocks = [
      { type: 'thinking', thinking: 'Hm.', signature },
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', id: 'a', name: 'f', input: {} },
      { type: 'tool_use', id: 'b', name: 'f', input: {} },
    ];
    const split = blocks.map((block) => ({ role: 'assistant', content: [block] }));
    const keep = ['reasoning_content'];
    const whole = toChat({ messages: [...messages, { role: 'assistant', content: blocks }] }, keep);
    assert.deepEqual(toChat({ messages: [...messages, ...split] }, keep), whole);
    const [, turn] = whole.body['messages'] as { reasoning_content: string; tool_calls: unknown[] }[];
    assert.deepEqual([turn?.reasoning_content, turn?.tool_calls.length], ['Hm.', 2]);
    const between = toChat({ messages: [split[1], ...messages, split[1]] });
    assert.equal((between.body['messages'] as unknown[]).length, 3);
  });

  it('sends reasoning back to a provider that wants it', () => {
    const details = [{ type: 'reasoning.encrypted', data: 'x', format: 'other-v1' }];
    const extra = { google: { thought_signature: 's' } };
    const content = [
      {
        type: 'thinking',
        thinking: 'Hm.',
        signature: sealToText({ kind: 'details', value: JSON.stringify(details) }),
      },
      {
        type: 'redacted_thinking',
        data: sealToText({ kind: 'extra', value: JSON.stringify(extra), id: 'toolu_1' }),
      },
      { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} },
    ];
    const turn = { messages: [{ role: 'assistant', content }] };
    const kept = toChat(turn, ['reasoning_content', 'reasoning_details', 'extra_content']);
    assert.deepEqual(kept.dropped, []);
    assert.deepEqual(kept.body['messages'], [
      {
        role: 'assistant',
        content: null,
        reasoning_content: 'Hm.',
        reasoning_details: details,
        tool_calls: [
          { id: 'toolu_1', type: 'function', function: { name: 'f', arguments: '{}' }, extra_content: extra },
        ],
      },
      { role: 'tool', tool_call_id: 'toolu_1', content: 'There is no result.' },
    ]);
    const lost = toChat(turn);
    assert.deepEqual(lost.dropped, ['thinking']);
    assert.ok(!JSON.stringify(lost.body).includes('Hm.'));
  });

  it('never sends a messages provider what it did not sign', () => {
    const seal = sealToText({ kind: 'encrypted', value: 'e', id: 'rs_1' });
    const go = { role: 'user', content: 'Go' };
    const blocks = [
      { type: 'thinking', thinking: 'a', signature: '' },
      { type: 'thinking', thinking: 'b', signature: seal },
      { type: 'redacted_thinking', data: 'gatehouse.v1.!!!' },
      { type: 'thinking', thinking: 'c', signature: 'real' },
      { type: 'text', text: 'd' },
    ];
    const chat = translateRequest('messages', 'chat', body(blocks), {
      ...OPTIONS,
      keep: ['reasoning_content'],
    });
    const [, turn] = chat.body['messages'] as { reasoning_content: string }[];
    assert.equal(turn?.reasoning_content, 'abc');
    const back = translateRequest('chat', 'messages', chat.body, OPTIONS);
    assert.deepEqual(back.body['messages'], [go, { role: 'assistant', content: 'd' }]);
    assert.deepEqual(back.dropped, ['reasoning_content']);

    function body(content: unknown[]) {
      return { model: 'm', max_tokens: 9, messages: [go, { role: 'assistant', content }] };
    }
  });

  it('keeps what stands for a part of the conversation', () => {
    const turns = [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: [{ type: 'compaction', content: 'So far.', encrypted_content: 'x' }] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'ToolSearch', input: {} }] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 't', content: [{ type: 'tool_reference', tool_name: 'Edit' }] },
        ],
      },
    ];
    const { body, dropped } = toChat({ messages: turns });
    assert.deepEqual(dropped, []);
    const said = (body['messages'] as { role: string; content: unknown }[]).map(({ role, content }) => [
      role,
      content,
    ]);
    assert.deepEqual(said, [
      ['user', 'a'],
      ['assistant', 'So far.'],
      ['tool', 'Edit'],
    ]);
  });

  it('names a user whose id is too long for OpenAI among what is dropped', () => {
    const { body, dropped } = toChat({ metadata: { user_id: 'x'.repeat(65) } });
    assert.deepEqual([body['user'], dropped], [undefined, ['metadata.user_id']]);
  });

  it('names the members of its settings that it does not know', () => {
    const { dropped } = toChat({
      output_config: { effort: 'low', task_budget: { type: 'tokens', total: 9 } },
    });
    assert.deepEqual(dropped, ['output_config.task_budget']);
  });

  it('names a document whose title is empty', () => {
    const source = { type: 'base64', media_type: 'application/pdf', data: 'BBBB' };
    const { body } = toChat({
      messages: [{ role: 'user', content: [{ type: 'document', title: '', source }] }],
    });
    const file = { filename: 'document.pdf', file_data: 'data:application/pdf;base64,BBBB' };
    assert.deepEqual(body['messages'], [{ role: 'user', content: [{ type: 'file', file }] }]);
  });

  it('has a strict schema only where OpenAI takes it for one', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false };
    const format = { type: 'json_schema', schema };
    const { body } = toChat({ output_format: format });
    assert.deepEqual(body['response_format'], {
      type: 'json_schema',
      json_schema: { name: 'answer', schema },
    });
  });
});
