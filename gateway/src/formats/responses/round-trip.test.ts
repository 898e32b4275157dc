import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../wire/json.ts';
import { translatorOf } from '../formats.ts';
import type { TranslatedFormat } from '../translation/feature-table.ts';
import { Losses } from '../translation/losses.ts';
import { CODEX_FIRST, CODEX_INPUT_TOOLS, CODEX_LATER } from './codex-body.fixture.ts';

const options = { keep: [], requestId: 'r', createdSeconds: 7, promptTokens: 3 };

function translate(from: TranslatedFormat, to: TranslatedFormat, body: JsonObject) {
  const losses = new Losses(from, to);
  const conversation = translatorOf(from).readRequest(body, losses);
  const written = translatorOf(to).writeRequest(conversation, losses, options);
  return { ...written, dropped: losses.dropped };
}

/** The body after it went into another format and back. */
function roundTrip(through: TranslatedFormat, body: JsonObject) {
  const there = translate('responses', through, body);
  const back = translate(through, 'responses', there.body);
  return { body: back.body, dropped: [...there.dropped, ...back.dropped] };
}

const words = (type: string, text: string) => [{ type, text }];
const user = (...content: JsonObject[]) => ({ type: 'message', role: 'user', content });
const said = (text: string) => ({ type: 'input_text', text });
const png = { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'auto' };
const parameters = {
  type: 'object',
  properties: { a: { type: 'string' } },
  required: ['a'],
  additionalProperties: false,
};

/** The members that each of the three formats can express. */
const COMMON: JsonObject = {
  model: 'm',
  instructions: 'Be brief.',
  input: [
    user(said('One'), png, said('Two')),
    { type: 'message', role: 'assistant', content: words('output_text', 'I look.') },
    { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{"a":"1"}' },
    { type: 'function_call', call_id: 'call_2', name: 'g', arguments: '{}' },
    { type: 'function_call_output', call_id: 'call_1', output: 'x' },
    { type: 'function_call_output', call_id: 'call_2', output: 'y' },
    user(said('Go on')),
    { type: 'message', role: 'assistant', content: words('output_text', 'Done.') },
    user(said('Thanks')),
  ],
  tools: [
    { type: 'function', name: 'f', description: 'F.', parameters, strict: true },
    { type: 'function', name: 'g', parameters: { type: 'object', properties: {} }, strict: false },
  ],
  tool_choice: 'auto',
  parallel_tool_calls: false,
  max_output_tokens: 50,
  temperature: 0.5,
  stream: true,
  user: 'u',
  store: false,
};

describe('a round trip', () => {
  it('through chat changes nothing that both can say', () => {
    const schema = { type: 'object' };
    const body = {
      ...COMMON,
      input: [
        { ...user(png), role: 'user' },
        { type: 'message', role: 'assistant', content: words('output_text', 'One') },
        { type: 'message', role: 'assistant', content: words('output_text', 'Two') },
        { type: 'message', role: 'system', content: words('input_text', 'Now in French.') },
        { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
        user({ type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,BBBB' }),
        ...(COMMON['input'] as JsonObject[]),
      ],
      tool_choice: { type: 'function', name: 'f' },
      top_p: 0.9,
      text: { format: { type: 'json_schema', name: 'n', schema, strict: true }, verbosity: 'low' },
      reasoning: { effort: 'low', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
      metadata: { a: 'b' },
      prompt_cache_key: 'k',
      prompt_cache_retention: '24h',
      service_tier: 'flex',
    };
    assert.deepEqual(roundTrip('chat', COMMON), { body: COMMON, dropped: [] });
    assert.deepEqual(roundTrip('chat', body), { body, dropped: ['reasoning.summary'] });
  });

  it('through messages changes nothing that both can say', () => {
    // A strict schema: the only kind that messages has.
    const schema = {
      type: 'object',
      properties: { a: { type: 'string' } },
      required: ['a'],
      additionalProperties: false,
    };
    const body = {
      ...COMMON,
      input: [
        user({ type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,BBBB' }),
        ...(COMMON['input'] as JsonObject[]).slice(1),
        { type: 'function_call', call_id: 'call_3', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'call_3', output: [said('x'), png] },
      ],
      text: { format: { type: 'json_schema', name: 'answer', schema, strict: true } },
      tool_choice: 'required',
      service_tier: 'auto',
    };
    assert.deepEqual(roundTrip('messages', COMMON), { body: COMMON, dropped: [] });
    assert.deepEqual(roundTrip('messages', body), { body, dropped: [] });
  });
});

describe('a request of Codex', () => {
  const call = (id: string, name: string, args: JsonObject) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  });
  const [shell] = CODEX_FIRST['tools'] as JsonObject[];
  const shellSchema = shell?.['parameters'];
  const agentSchema = {
    type: 'object',
    properties: { target: { type: 'string' } },
    required: ['target'],
    additionalProperties: false,
  };
  const searchSchema = {
    type: 'object',
    properties: { query: { type: 'string' } },
    required: ['query'],
  };
  const patchSchema = {
    type: 'object',
    properties: { input: { type: 'string', description: 'The whole input of the tool, as plain text.' } },
    required: ['input'],
    additionalProperties: false,
  };
  // A model that is not held to the grammar has to read it.
  const patch = [
    'Edits files. This is a free-form tool: do not wrap the patch in JSON.',
    'The text in `input` must match this Lark grammar:\nstart: "*** Begin Patch" LF',
  ].join('\n\n');
  const skills = '<skills_instructions>none</skills_instructions>';
  const permissions = '<permissions instructions>all</permissions instructions>';
  const environment = '<environment_context>bash</environment_context>';

  it('goes to a provider of chat', () => {
    const { body, dropped, customTools } = translate('responses', 'chat', CODEX_LATER);
    const func = (name: string, description: string, parameters: unknown, strict?: boolean) => ({
      type: 'function',
      function: { name, description, parameters, ...(strict !== undefined && { strict }) },
    });
    assert.deepEqual(body, {
      model: 'gpt-5.5',
      messages: [
        // Some models take one system message.
        { role: 'system', content: `You are a coding agent.\n\n${skills}\n\n${permissions}` },
        { role: 'user', content: environment },
        { role: 'user', content: 'Say hello' },
        {
          role: 'assistant',
          content: 'I look around.',
          tool_calls: [
            call('call_1', 'exec_command', { cmd: 'ls' }),
            call('call_2', 'apply_patch', { input: '*** Begin Patch\n"\\' }),
            call('call_3', 'multi_agent_v1__close_agent', { target: 'a' }),
          ],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'a.txt\n' },
        { role: 'tool', tool_call_id: 'call_2', content: 'Done.' },
        { role: 'tool', tool_call_id: 'call_3', content: 'closed' },
        { role: 'user', content: 'Go on' },
      ],
      tools: [
        func('exec_command', 'Runs a command and returns its output.', shellSchema, false),
        func('apply_patch', patch, patchSchema),
        func('multi_agent_v1__close_agent', 'Closes an agent.', agentSchema, false),
        func('tool_search', 'Searches for tools.', searchSchema),
      ],
      tool_choice: 'auto',
      parallel_tool_calls: true,
      reasoning_effort: 'medium',
      verbosity: 'low',
      prompt_cache_key: '01a20367-7119-7dd2-8ab0-b5ac35d69db0',
      stream: true,
    });
    assert.deepEqual(customTools, ['apply_patch']);
    assert.deepEqual(dropped.toSorted(), [
      'client_metadata',
      'input.phase',
      'reasoning',
      'tools[apply_patch].format',
      'tools[web_search]',
    ]);
  });

  it('goes to a provider of messages', () => {
    const { body, dropped, customTools } = translate('responses', 'messages', CODEX_LATER);
    const tool = (name: string, description: string, schema: unknown) => ({
      name,
      description,
      input_schema: schema,
    });
    const use = (id: string, name: string, input: JsonObject) => ({ type: 'tool_use', id, name, input });
    const result = (id: string, content: string) => ({ type: 'tool_result', tool_use_id: id, content });
    assert.deepEqual(body, {
      model: 'gpt-5.5',
      system: [
        { type: 'text', text: 'You are a coding agent.' },
        { type: 'text', text: skills },
        { type: 'text', text: permissions },
      ],
      messages: [
        { role: 'user', content: environment },
        { role: 'user', content: 'Say hello' },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'I look around.' },
            use('call_1', 'exec_command', { cmd: 'ls' }),
            use('call_2', 'apply_patch', { input: '*** Begin Patch\n"\\' }),
            use('call_3', 'multi_agent_v1__close_agent', { target: 'a' }),
          ],
        },
        {
          role: 'user',
          content: [
            result('call_1', 'a.txt\n'),
            result('call_2', 'Done.'),
            result('call_3', 'closed'),
            { type: 'text', text: 'Go on' },
          ],
        },
      ],
      tools: [
        tool('exec_command', 'Runs a command and returns its output.', shellSchema),
        tool('apply_patch', patch, patchSchema),
        tool('multi_agent_v1__close_agent', 'Closes an agent.', agentSchema),
        tool('tool_search', 'Searches for tools.', searchSchema),
      ],
      tool_choice: { type: 'auto' },
      thinking: { type: 'adaptive' },
      output_config: { effort: 'medium' },
      stream: true,
    });
    assert.deepEqual(customTools, ['apply_patch']);
    assert.deepEqual(dropped.toSorted(), [
      'client_metadata',
      'input.phase',
      'prompt_cache_key',
      'reasoning',
      'text.verbosity',
      'tools[apply_patch].format',
      'tools[web_search]',
    ]);
  });

  it('goes to a provider of messages without tools, for a summary of the session', () => {
    const { body } = translate('responses', 'messages', { ...CODEX_LATER, tools: [] });
    const input_schema = { type: 'object' };
    assert.deepEqual(body['tools'], [
      { name: 'exec_command', input_schema },
      { name: 'apply_patch', input_schema },
      { name: 'multi_agent_v1__close_agent', input_schema },
    ]);
    assert.deepEqual(body['tool_choice'], { type: 'none' });
    const { body: first } = translate('responses', 'messages', { ...CODEX_FIRST, tools: [] });
    assert.equal(first['tools'], undefined);
    assert.equal(first['tool_choice'], undefined);
  });

  for (const [title, body] of [
    ['first turn', CODEX_FIRST],
    ['tools in the input', CODEX_INPUT_TOOLS],
  ] as const) {
    it(`is taken by both formats: ${title}`, () => {
      for (const to of ['chat', 'messages'] as const) {
        const { body: written } = translate('responses', to, body);
        assert.equal((written['tools'] as unknown[]).length, 2);
        assert.equal(written['stream'], true);
      }
    });
  }
});
