import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../wire/json.ts';
import { BodyError } from '../call.ts';
import { translateAnswer, translateRequest } from './index.ts';
import { OPTIONS } from './testing.fixture.ts';

// Requests as a whole; single features are tried by feature-table.test.ts.

const weather = {
  type: 'function',
  function: { name: 'weather', parameters: { type: 'object', properties: {} } },
};
const messages = [{ role: 'user', content: 'Hi' }];
const toMessages = (members: object, keep: readonly string[] = []) =>
  translateRequest('chat', 'messages', { model: 'm', messages, ...members }, { ...OPTIONS, keep });

describe('a chat request for a messages provider', () => {
  it('keeps every turn in its order', () => {
    const { body, dropped } = toMessages({
      messages: [
        { role: 'system', content: 'Be kind.' },
        { role: 'developer', content: [{ type: 'text', text: 'Be brief.' }] },
        { role: 'user', content: 'Weather?' },
        {
          role: 'assistant',
          content: 'I look.',
          tool_calls: [
            { id: 'a', type: 'function', function: { name: 'weather', arguments: '{"city":"Lahore"}' } },
            { id: 'b', type: 'function', function: { name: 'weather', arguments: '' } },
          ],
        },
        { role: 'tool', tool_call_id: 'a', content: 'Dust.' },
        { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: 'Haze.' }] },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'And' },
            { type: 'text', text: 'now?' },
          ],
        },
        { role: 'assistant', content: '' },
        { role: 'user', content: 'Go' },
      ],
      tools: [weather],
      max_tokens: 90,
      max_completion_tokens: 80,
      stream: true,
      stream_options: { include_usage: true },
    });
    assert.deepEqual(dropped, []);
    assert.deepEqual(body, {
      model: 'm',
      system: [
        { type: 'text', text: 'Be kind.' },
        { type: 'text', text: 'Be brief.' },
      ],
      messages: [
        { role: 'user', content: 'Weather?' },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'I look.' },
            { type: 'tool_use', id: 'a', name: 'weather', input: { city: 'Lahore' } },
            { type: 'tool_use', id: 'b', name: 'weather', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a', content: 'Dust.' },
            { type: 'tool_result', tool_use_id: 'b', content: 'Haze.' },
            { type: 'text', text: 'And' },
            { type: 'text', text: 'now?' },
          ],
        },
        { role: 'user', content: 'Go' },
      ],
      tools: [{ name: 'weather', input_schema: { type: 'object', properties: {} } }],
      max_tokens: 80,
      stream: true,
    });
  });

  it('has no blank refusals, and no schema without a type', () => {
    const { body } = toMessages({
      messages: [...messages, { role: 'assistant', content: 'Hm.', refusal: ' ' }, ...messages],
      tools: [{ type: 'function', function: { name: 'f', parameters: { type: null, properties: {} } } }],
    });
    const [, turn] = body['messages'] as { content: string }[];
    assert.equal(turn?.content, 'Hm.');
    assert.deepEqual(body['tools'], [{ name: 'f', input_schema: { type: 'object', properties: {} } }]);
  });

  it('has four cache breakpoints at most, the last ones of the turns', () => {
    const mark = { cache_control: { type: 'ephemeral' } };
    const turn = (role: string, text: string) => ({ role, content: [{ type: 'text', text, ...mark }] });
    const marked = [turn('user', 'a'), turn('assistant', 'b'), turn('user', 'c')];
    const four = toMessages({ messages: [turn('system', 's'), ...marked] });
    assert.deepEqual(four.body['messages'], marked);
    assert.deepEqual(four.dropped, []);
    const five = toMessages({ messages: [turn('system', 's'), ...marked], tools: [{ ...weather, ...mark }] });
    assert.deepEqual(five.body['messages'], [{ role: 'user', content: 'a' }, ...marked.slice(1)]);
    assert.deepEqual(five.body['system'], [{ type: 'text', text: 's', ...mark }]);
    assert.deepEqual((five.body['tools'] as JsonObject[])[0]?.['cache_control'], mark.cache_control);
    assert.deepEqual(five.dropped, ['cache_control']);
  });

  for (const [filename, title] of [
    ['', undefined],
    ['a.pdf', 'a.pdf'],
    ['x'.repeat(501), 'x'.repeat(500)],
  ] as const) {
    it(`has a title as Anthropic takes it for a file whose name has ${filename.length} characters`, () => {
      const file = { filename, file_data: 'data:application/pdf;base64,BBBB' };
      const { body } = toMessages({ messages: [{ role: 'user', content: [{ type: 'file', file }] }] });
      const source = { type: 'base64', media_type: 'application/pdf', data: 'BBBB' };
      const block = { type: 'document', source, ...(title && { title }) };
      assert.deepEqual(body['messages'], [{ role: 'user', content: [block] }]);
    });
  }

  for (const [given, sent] of [
    [-1, undefined],
    [0, undefined],
    [40, 40],
  ] as const) {
    it(`has the top_k ${sent} for ${given}`, () => {
      const { body, dropped } = toMessages({ top_k: given });
      assert.deepEqual([body['top_k'], dropped], [sent, []]);
    });
  }

  for (const [given, named] of [
    [{ user: 'a' }, []],
    [{ user: 'a', safety_identifier: 'a' }, []],
    [{ user: 'b', safety_identifier: 'a' }, ['user']],
  ] as const) {
    it(`has one user for ${JSON.stringify(given)}`, () => {
      const { body, dropped } = toMessages(given);
      assert.deepEqual([body['metadata'], dropped], [{ user_id: 'a' }, named]);
    });
  }

  it('names the members of messages and tools that it does not know', () => {
    const { dropped } = toMessages({
      messages: [
        ...messages,
        { role: 'assistant', content: 'He', prefix: true, annotations: [], audio: null },
      ],
      tools: [
        { ...weather, defer_loading: true },
        { type: 'function', function: { name: 'go', examples: [] } },
        { type: 'custom', custom: { name: 'run', hint: 'x' } },
      ],
    });
    const names = ['messages[].prefix', 'tools[].defer_loading', 'tools[].examples', 'tools[].hint'];
    assert.deepEqual(dropped, names);
  });

  const strictTool = (name: string, properties: object) => {
    const required = Object.keys(properties);
    const parameters = { type: 'object', properties, required, additionalProperties: false };
    return { type: 'function', function: { name, parameters, strict: true } };
  };
  const named = (count: number, schema: object) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, schema]));
  for (const [title, tools, isStrict] of [
    ['20 of them', Array.from({ length: 20 }, (_, index) => strictTool(`t${index}`, {})), true],
    ['21 of them', Array.from({ length: 21 }, (_, index) => strictTool(`t${index}`, {})), false],
    ['16 choices', [strictTool('t', named(16, { type: ['string', 'null'] }))], true],
    ['17 choices', [strictTool('t', named(17, { type: ['string', 'null'] }))], false],
    ['a bound', [strictTool('t', { a: { type: 'integer', minimum: 1 } })], false],
  ] as const) {
    it(`${isStrict ? 'has strict tools' : 'has no strict tools, by name,'} with ${title}`, () => {
      const { body, dropped } = toMessages({ tools });
      const expected = tools.map(({ function: { name, parameters } }) => {
        return { name, input_schema: parameters, ...(isStrict && { strict: true }) };
      });
      assert.deepEqual(body['tools'], expected);
      assert.deepEqual(dropped, isStrict ? [] : ['tools[].strict']);
    });
  }

  it('declares a tool once', () => {
    const { body, dropped } = toMessages({ tools: [weather, weather] });
    assert.equal((body['tools'] as unknown[]).length, 1);
    assert.deepEqual(dropped, ['tools[weather]']);
  });

  it('puts a breakpoint within a result on the result, where alone Anthropic takes it', () => {
    const mark = { cache_control: { type: 'ephemeral', ttl: '1h' } };
    const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } };
    const content = [
      { type: 'text', text: 'one', ...mark },
      { type: 'text', text: 'two' },
    ];
    const turns = [
      { role: 'assistant', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'a', content },
    ];
    const { body } = toMessages({ messages: [...messages, ...turns] });
    const [, , said] = body['messages'] as { content: JsonObject[] }[];
    const texts = [
      { type: 'text', text: 'one' },
      { type: 'text', text: 'two' },
    ];
    assert.deepEqual(said?.content, [{ type: 'tool_result', tool_use_id: 'a', content: texts, ...mark }]);
  });

  it('takes the arguments of a call as an object too', () => {
    const call = { id: 'a', type: 'function', function: { name: 'f', arguments: { a: 1 } } };
    const { body } = toMessages({ messages: [...messages, { role: 'assistant', tool_calls: [call] }] });
    const [, turn] = body['messages'] as { content: { input: JsonObject }[] }[];
    assert.deepEqual(turn?.content[0]?.input, { a: 1 });
    const input = [...messages, { type: 'function_call', call_id: 'a', name: 'f', arguments: { a: 1 } }];
    const tools = [{ type: 'function', name: 'f', cache_control: { type: 'ephemeral' } }];
    const other = translateRequest('responses', 'messages', { model: 'm', input, tools }, OPTIONS);
    const [, said] = other.body['messages'] as { content: { input: JsonObject }[] }[];
    assert.deepEqual(said?.content[0]?.input, { a: 1 });
    const [tool] = other.body['tools'] as JsonObject[];
    assert.deepEqual([tool?.['cache_control'], other.dropped], [{ type: 'ephemeral' }, []]);
  });

  it('with nothing but a system prompt says it as the user', () => {
    const { body } = toMessages({ messages: [{ role: 'system', content: 'Say hi.' }] });
    assert.deepEqual([body['system'], body['messages']], [undefined, [{ role: 'user', content: 'Say hi.' }]]);
  });

  for (const [written, input] of [
    ['', {}],
    [' \n', {}],
    ['{"a":1}', { a: 1 }],
    ['{"a":', { invalid_arguments: '{"a":' }],
    ['[1]', { invalid_arguments: '[1]' }],
    ['"text"', { invalid_arguments: '"text"' }],
    ['null', {}],
    [`${'['.repeat(5_000)}${']'.repeat(5_000)}`, undefined],
    [`{"a":${'['.repeat(200)}${']'.repeat(200)}}`, undefined],
  ] as const) {
    it(`has ${JSON.stringify(input ?? 'the text')} as the input of a tool for ${written.slice(0, 20)}`, () => {
      const call = { id: 'a', type: 'function', function: { name: 'f', arguments: written } };
      const go = { role: 'user', content: 'Go' };
      const { body } = toMessages({ messages: [go, { role: 'assistant', tool_calls: [call] }] });
      const [, turn] = body['messages'] as { content: { input: JsonObject }[] }[];
      assert.deepEqual(turn?.content[0]?.input, input ?? { invalid_arguments: written });
      const [, back] = translateRequest('messages', 'chat', body, OPTIONS).body['messages'] as {
        tool_calls: { function: { arguments: string } }[];
      }[];
      // Servers parse the arguments of earlier calls.
      const { function: called } = back?.tool_calls[0] ?? { function: { arguments: '' } };
      assert.equal(called.arguments, JSON.stringify(turn?.content[0]?.input));
    });
  }

  it('renames what Anthropic does not take, and the answer bears the caller’s names', () => {
    const name = `mcp.${'x'.repeat(200)}`;
    const { body, notes } = toMessages({
      messages: [
        { role: 'user', content: 'Go' },
        {
          role: 'assistant',
          tool_calls: [{ id: 'f:0', type: 'function', function: { name, arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'f:0', content: 'ok' },
      ],
      tools: [{ type: 'function', function: { name } }],
      tool_choice: { type: 'function', function: { name } },
    });
    const [tool] = body['tools'] as { name: string }[];
    const sent = tool?.name ?? '';
    assert.match(sent, /^mcp_x+_[0-9a-f]{10}$/);
    assert.equal(sent.length, 128);
    assert.deepEqual(body['tool_choice'], { type: 'tool', name: sent });
    const [, turn, result] = body['messages'] as {
      content: { id: string; name: string; tool_use_id: string }[];
    }[];
    assert.equal(turn?.content[0]?.name, sent);
    assert.match(turn?.content[0]?.id ?? '', /^f_0_[0-9a-f]{10}$/);
    assert.equal(turn?.content[0]?.id, result?.content[0]?.tool_use_id);
    const content = [{ type: 'tool_use', id: 't', name: sent, input: {} }];
    const answer = translateAnswer('messages', 'chat', { content, stop_reason: 'tool_use' }, notes);
    assert.ok(JSON.stringify(answer).includes(`"name":"${name}"`));
  });

  it('with a custom tool declares a function, whose calls are custom again', () => {
    const { body, notes } = toMessages({
      messages: [
        { role: 'user', content: 'Go' },
        {
          role: 'assistant',
          tool_calls: [{ id: 'a', type: 'custom', custom: { name: 'patch', input: '+ "x"\n' } }],
        },
      ],
      tools: [{ type: 'custom', custom: { name: 'patch', description: 'Edits.', format: { type: 'text' } } }],
    });
    assert.deepEqual(notes.customTools, ['patch']);
    const [, turn] = body['messages'] as { content: unknown[] }[];
    assert.deepEqual(turn?.content, [
      { type: 'tool_use', id: 'a', name: 'patch', input: { input: '+ "x"\n' } },
    ]);
    const said = (input: object) => {
      const content = [{ type: 'tool_use', id: 't', name: 'patch', input }];
      return callsOf(translateAnswer('messages', 'chat', { content, stop_reason: 'tool_use' }, notes));
    };
    // Models that were trained on a tool call its argument as they know it.
    for (const input of [{ input: '- y\n' }, { patch: '- y\n' }, { input: '- y\n', more: 1 }]) {
      assert.deepEqual(said(input), [{ id: 't', type: 'custom', custom: { name: 'patch', input: '- y\n' } }]);
    }
    for (const input of [{ a: 'x', b: 'y' }, { a: 1 }, {}]) {
      const custom = { name: 'patch', input: JSON.stringify(input) };
      assert.deepEqual(said(input), [{ id: 't', type: 'custom', custom }]);
    }
  });

  for (const [members, sampling, lost] of [
    [{ temperature: 1.5 }, { temperature: 1 }, ['temperature']],
    [{ temperature: 0.5, top_p: 0.9 }, { temperature: 0.5 }, ['top_p']],
    [{ temperature: 0.5, reasoning_effort: 'low' }, {}, ['temperature']],
    [{ temperature: 1, top_p: 0.96, top_k: 5, reasoning_effort: 'low' }, { top_p: 0.96 }, ['top_k']],
    [{ temperature: 0.5, reasoning_effort: 'none' }, { temperature: 0.5 }, []],
  ] as const) {
    it(`samples by ${JSON.stringify(sampling)} for ${JSON.stringify(members)}`, () => {
      const { body, dropped } = toMessages(members);
      const { temperature, top_p, top_k } = body;
      assert.deepEqual(JSON.parse(JSON.stringify({ temperature, top_p, top_k })), sampling);
      assert.deepEqual(dropped, lost);
    });
  }

  it('does not think where a tool is forced', () => {
    const { body, dropped } = toMessages({
      tools: [weather],
      tool_choice: 'required',
      reasoning_effort: 'high',
    });
    assert.deepEqual([body['thinking'], body['output_config']], [undefined, { effort: 'high' }]);
    assert.deepEqual(dropped, ['reasoning_effort']);
  });

  it('says nothing of what is what every provider does anyway', () => {
    const { dropped } = toMessages({
      n: 1,
      presence_penalty: 0,
      frequency_penalty: 0,
      logprobs: false,
      logit_bias: {},
      store: false,
      modalities: ['text'],
      response_format: { type: 'text' },
      user: null,
      service_tier: 'auto',
      parallel_tool_calls: true,
    });
    assert.deepEqual(dropped, []);
  });

  it('sends no tool choice without tools', () => {
    const { body, dropped } = toMessages({ tools: [{ type: 'web_search' }], tool_choice: 'auto' });
    assert.deepEqual(
      [body['tools'], body['tool_choice'], dropped],
      [undefined, undefined, ['tools[web_search]']],
    );
  });

  it('is refused where the only tool that it forces is a hosted one', () => {
    assert.throws(() => toMessages({ tools: [{ type: 'web_search' }], tool_choice: 'required' }), BodyError);
  });

  it('puts instructions between the turns where newer models take them', () => {
    const turns = [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'b' },
      { role: 'system', content: 'now' },
      { role: 'user', content: 'c' },
      { role: 'system', content: 'then' },
    ];
    const roles = (keep: string[]) =>
      (toMessages({ messages: turns }, keep).body['messages'] as { role: string; content: string }[]).map(
        ({ role, content }) => `${role} ${content}`,
      );
    assert.deepEqual(roles(['system_turns']), [
      'user a',
      'assistant b',
      'user c',
      'system now',
      'system then',
    ]);
    assert.deepEqual(roles([]), [
      'user a',
      'assistant b',
      'user <system>\nnow\n</system>',
      'user c',
      'user <system>\nthen\n</system>',
    ]);
  });
});

function callsOf(answer: JsonObject | undefined): unknown {
  const choices = answer?.['choices'] as { message: { tool_calls: unknown } }[] | undefined;
  return choices?.[0]?.message.tool_calls;
}
