import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { translateRequest } from '../translation/index.ts';
import { OPTIONS } from '../translation/testing.fixture.ts';

const schema = { type: 'object', properties: { a: { type: 'string' } } };
const func = { type: 'function', function: { name: 'f', parameters: schema } };
const messages = [{ role: 'user', content: 'Hi' }];
const translate = (to: 'messages' | 'responses', members: object) =>
  translateRequest('chat', to, { model: 'm', messages, ...members }, OPTIONS).body;

describe('a chat request with tools of other formats', () => {
  for (const [title, tool] of [
    ['as in responses', { type: 'function', name: 'f', parameters: schema }],
    ['as in messages', { name: 'f', input_schema: schema }],
  ] as const) {
    it(`may declare a tool ${title}`, () => {
      assert.deepEqual(translate('messages', { tools: [tool] })['tools'], [
        { name: 'f', input_schema: schema },
      ]);
    });
  }

  it('may declare a custom tool as in responses', () => {
    const grammar = { syntax: 'lark', definition: 'start: "a"' };
    for (const format of [
      { type: 'grammar', ...grammar },
      { type: 'grammar', grammar },
    ]) {
      const { tools } = translate('responses', { tools: [{ type: 'custom', name: 'g', format }] });
      assert.deepEqual(tools, [{ type: 'custom', name: 'g', format: { type: 'grammar', ...grammar } }]);
    }
  });

  for (const [choice, written] of [
    ['any', { type: 'any' }],
    [{ type: 'any' }, { type: 'any' }],
    [{ type: 'auto' }, { type: 'auto' }],
    [
      { type: 'function', name: 'f' },
      { type: 'tool', name: 'f' },
    ],
    [
      { type: 'tool', name: 'f' },
      { type: 'tool', name: 'f' },
    ],
  ] as const) {
    it(`may choose a tool by ${JSON.stringify(choice)}`, () => {
      const { tool_choice: chosen } = translate('messages', { tools: [func], tool_choice: choice });
      assert.deepEqual(chosen, written);
    });
  }

  it('may have calls and results as in messages', () => {
    const turns = [
      ...messages,
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'a', name: 'f', input: { a: 'b' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: 'c', is_error: true },
          { type: 'text', text: 'Go on' },
        ],
      },
    ];
    const { messages: written } = translate('messages', { messages: turns, tools: [func] });
    assert.deepEqual(written, turns);
    const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{"a":"b"}' } };
    const twice = turns.map((turn) => (turn.role === 'assistant' ? { ...turn, tool_calls: [call] } : turn));
    assert.deepEqual(translate('messages', { messages: twice, tools: [func] })['messages'], turns);
  });
});
