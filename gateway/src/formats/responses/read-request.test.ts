import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../wire/json.ts';
import { sealToText } from '../translation/reasoning.ts';
import { APPLY_PATCH, CODEX_FIRST, CODEX_INPUT_TOOLS, CODEX_LATER } from './codex-body.fixture.ts';
import { read, readWith, text, turnsOf } from './read-request.fixture.ts';

const shell = {
  kind: 'function',
  name: 'exec_command',
  description: 'Runs a command and returns its output.',
  strict: false,
  parameters: (CODEX_FIRST['tools'] as JsonObject[])[0]?.['parameters'],
};
const closeAgent = {
  kind: 'function',
  name: 'multi_agent_v1__close_agent',
  description: 'Closes an agent.',
  strict: false,
  parameters: {
    type: 'object',
    properties: { target: { type: 'string' } },
    required: ['target'],
    additionalProperties: false,
  },
};
const grammar = { syntax: 'lark', definition: 'start: "*** Begin Patch" LF' };

describe('a member that no one knows', () => {
  it('is dropped by its name, also where every object has a member of that name', () => {
    const members = ['constructor', 'toString', 'hasOwnProperty', '__proto__'];
    const body = `{"model": "m", "input": "x", ${members.map((name) => `"${name}": 1`).join()}}`;
    assert.deepEqual(read(JSON.parse(body) as JsonObject).dropped, members);
  });
});

describe('a request of Codex', () => {
  it('is read in its first turn', () => {
    const { conversation, dropped } = read(CODEX_FIRST);
    assert.deepEqual(conversation, {
      model: 'gpt-5-mini',
      instructions: [
        { role: 'developer', parts: [text('You are a coding agent.')] },
        {
          role: 'developer',
          parts: [
            text('<skills_instructions>none</skills_instructions>'),
            text('<permissions instructions>all</permissions instructions>'),
          ],
        },
      ],
      turns: [
        { role: 'user', parts: [text('<environment_context>bash</environment_context>')] },
        { role: 'user', parts: [text('Say hello')] },
      ],
      tools: [shell, closeAgent, { kind: 'hosted', type: 'web_search' }],
      namespaces: {
        multi_agent_v1__close_agent: { namespace: 'multi_agent_v1', name: 'close_agent' },
      },
      toolChoice: { mode: 'auto' },
      parallelToolCalls: true,
      sampling: {},
      reasoning: { summary: 'auto' },
      isStream: true,
      showsUsage: true,
      promptCacheKey: '01a20367-7119-7dd2-8ab0-b5ac35d69db0',
    });
    assert.deepEqual(dropped, ['client_metadata']);
  });

  it('is read in a later turn, with reasoning, parallel calls of every kind and their results', () => {
    const { conversation, dropped } = read(CODEX_LATER);
    assert.deepEqual(conversation.turns.slice(2), [
      {
        role: 'assistant',
        parts: [
          {
            type: 'reasoning',
            text: 'A file has to be made.',
            seal: { kind: 'encrypted', value: 'gAAAAABo', id: 'rs_1' },
          },
          text('I look around.'),
          {
            type: 'toolCall',
            id: 'call_1',
            kind: 'function',
            name: 'exec_command',
            arguments: '{"cmd":"ls"}',
          },
          {
            type: 'toolCall',
            id: 'call_2',
            kind: 'custom',
            name: 'apply_patch',
            arguments: '*** Begin Patch\n"\\',
          },
          {
            type: 'toolCall',
            id: 'call_3',
            kind: 'function',
            name: 'multi_agent_v1__close_agent',
            arguments: '{"target":"a"}',
          },
        ],
      },
      {
        role: 'user',
        parts: [
          { type: 'toolResult', callId: 'call_1', parts: [text('a.txt\n')] },
          { type: 'toolResult', callId: 'call_2', parts: [text('Done.')] },
          { type: 'toolResult', callId: 'call_3', parts: [text('closed')] },
          text('Go on'),
        ],
      },
    ]);
    assert.deepEqual(conversation.tools, [
      shell,
      {
        kind: 'custom',
        name: 'apply_patch',
        description: APPLY_PATCH.description,
        format: { type: 'grammar', grammar },
      },
      closeAgent,
      {
        kind: 'function',
        name: 'tool_search',
        description: 'Searches for tools.',
        parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
      },
      { kind: 'hosted', type: 'web_search' },
    ]);
    assert.equal(conversation.hasToolSearch, true);
    assert.deepEqual(conversation.reasoning, { effort: 'medium' });
    assert.equal(conversation.verbosity, 'low');
    assert.deepEqual(dropped, ['client_metadata', 'input.phase']);
  });

  it('is read with tools in its input', () => {
    const { conversation, dropped } = read(CODEX_INPUT_TOOLS);
    assert.deepEqual(
      conversation.tools.map((tool) => [tool.kind, 'name' in tool && tool.name]),
      [
        ['custom', 'functions__exec'],
        ['function', 'functions__wait'],
      ],
    );
    assert.deepEqual(conversation.namespaces, {
      functions__exec: { namespace: 'functions', name: 'exec' },
      functions__wait: { namespace: 'functions', name: 'wait' },
    });
    assert.equal(conversation.turns.length, 2);
    assert.equal(conversation.parallelToolCalls, false);
    assert.deepEqual(dropped, ['client_metadata', 'reasoning.context']);
  });
});

describe('what a responses request may say', () => {
  it('instructions and a text', () => {
    const { instructions, turns } = readWith({ instructions: 'Be brief.' });
    assert.deepEqual(instructions, [{ role: 'system', parts: [text('Be brief.')] }]);
    assert.deepEqual(turns, [{ role: 'user', parts: [text('Hi')] }]);
  });

  it('instructions in the middle of the conversation', () => {
    const later = { role: 'developer', content: 'Now in French.' };
    assert.deepEqual(turnsOf({ role: 'user', content: 'Hi' }, later), [
      { role: 'user', parts: [text('Hi')] },
      { role: 'developer', parts: [text('Now in French.')] },
    ]);
  });

  it('images by URL and in base64, and files with their content', () => {
    const parts = [
      { type: 'input_image', image_url: 'https://example.com/a.png', detail: 'high' },
      { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
      { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,BBBB' },
      { type: 'input_file', file_url: 'https://example.com/a.pdf' },
    ];
    assert.deepEqual(turnsOf({ role: 'user', content: parts }), [
      {
        role: 'user',
        parts: [
          { type: 'image', source: { kind: 'url', url: 'https://example.com/a.png' }, detail: 'high' },
          { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'AAAA' } },
          {
            type: 'document',
            source: { kind: 'base64', mediaType: 'application/pdf', data: 'BBBB' },
            name: 'a.pdf',
          },
          { type: 'document', source: { kind: 'url', url: 'https://example.com/a.pdf' } },
        ],
      },
    ]);
  });

  it('images in the result of a tool', () => {
    const output = [{ type: 'input_image', image_url: 'data:image/png;base64,AAAA' }];
    assert.deepEqual(turnsOf({ type: 'function_call_output', call_id: 'c', output }), [
      {
        role: 'user',
        parts: [
          {
            type: 'toolResult',
            callId: 'c',
            parts: [{ type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'AAAA' } }],
          },
        ],
      },
    ]);
  });

  it('two messages of the assistant in a row, and a refusal', () => {
    const refusal = [{ type: 'refusal', refusal: 'No.' }];
    assert.deepEqual(
      turnsOf({ role: 'assistant', content: 'One' }, { role: 'assistant', content: refusal }),
      [
        { role: 'assistant', parts: [text('One')] },
        { role: 'assistant', parts: [{ type: 'refusal', text: 'No.' }] },
      ],
    );
  });

  it('a call of the local shell and its output', () => {
    const action = { type: 'exec', command: ['ls'], env: {}, timeout_ms: null };
    const call = { type: 'local_shell_call', id: 'lsh', call_id: 'c', status: 'completed', action };
    const output = { type: 'local_shell_call_output', id: 'c', output: 'a' };
    assert.deepEqual(turnsOf(call, output), [
      {
        role: 'assistant',
        parts: [
          {
            type: 'toolCall',
            id: 'c',
            kind: 'function',
            name: 'local_shell',
            arguments: '{"command":["ls"],"env":{}}',
          },
        ],
      },
      { role: 'user', parts: [{ type: 'toolResult', callId: 'c', parts: [text('a')] }] },
    ]);
  });

  it('reasoning of another provider, as a translated answer sealed it', () => {
    const seal = { kind: 'signature', value: 'EqQB' } as const;
    const item = {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 'I think.' }],
      encrypted_content: sealToText(seal),
    };
    assert.deepEqual(turnsOf(item), [
      { role: 'assistant', parts: [{ type: 'reasoning', text: 'I think.', seal }] },
    ]);
  });

  it('reasoning that says nothing, which is passed over', () => {
    assert.deepEqual(turnsOf({ type: 'reasoning', id: 'rs_1', summary: [] }), []);
  });

  it('JSON by a schema, and sampling', () => {
    const schema = { type: 'object', properties: {} };
    const conversation = readWith({
      text: { format: { type: 'json_schema', name: 'answer', schema, strict: true } },
      temperature: 0.5,
      top_p: 0.9,
      max_output_tokens: 100,
      safety_identifier: 'u1',
      service_tier: 'flex',
      metadata: { a: 'b' },
    });
    assert.deepEqual(conversation.outputFormat, { type: 'jsonSchema', schema, name: 'answer', strict: true });
    assert.deepEqual(conversation.sampling, { temperature: 0.5, topP: 0.9 });
    assert.equal(conversation.outputCap, 100);
    assert.equal(conversation.userId, 'u1');
    assert.equal(conversation.serviceTier, 'flex');
    assert.deepEqual(conversation.metadata, { a: 'b' });
  });

  for (const [title, choice, expected] of [
    ['none', 'none', { mode: 'none' }],
    ['a function', { type: 'function', name: 'f' }, { mode: 'tool', name: 'f' }],
    ['a custom tool', { type: 'custom', name: 'f' }, { mode: 'tool', name: 'f' }],
    ['a hosted tool', { type: 'web_search' }, { mode: 'hosted', type: 'web_search' }],
    [
      'some of the tools',
      {
        type: 'allowed_tools',
        mode: 'required',
        tools: [{ type: 'function', name: 'f' }, { type: 'web_search' }],
      },
      { mode: 'allowed', names: ['f'], isRequired: true },
    ],
    [
      'one of hosted tools only',
      { type: 'allowed_tools', mode: 'required', tools: [{ type: 'web_search' }] },
      { mode: 'hosted', type: 'web_search' },
    ],
  ] as const) {
    it(`the tool choice: ${title}`, () =>
      assert.deepEqual(readWith({ tool_choice: choice }).toolChoice, expected));
  }

  it('a tool that a search found again, which is declared once', () => {
    const tool = { type: 'function', name: 'f' };
    const found = { type: 'tool_search_output', call_id: 's', tools: [tool] };
    const { tools } = readWith({ tools: [tool], input: [found, { role: 'user', content: 'Hi' }] });
    assert.deepEqual(tools, [{ kind: 'function', name: 'f' }]);
  });

  it('a search for tools that it runs itself, and what it found', () => {
    const conversation = readWith({
      tools: [{ type: 'tool_search', execution: 'client' }],
      input: [
        { type: 'tool_search_call', call_id: 'c1', execution: 'client', arguments: { query: 'agents' } },
        {
          type: 'tool_search_output',
          call_id: 'c1',
          tools: [{ type: 'namespace', name: 'a', tools: [{ type: 'function', name: 'b' }] }],
        },
        { type: 'tool_search_call', call_id: 'c2', arguments: '{"query":"x"}' },
        { type: 'tool_search_output', call_id: 'c2', tools: [] },
      ],
    });
    const asked = (id: string, text: string) => ({
      role: 'assistant',
      parts: [{ type: 'toolCall', id, kind: 'function', name: 'tool_search', arguments: text }],
    });
    const found = (callId: string, value: string) => ({
      role: 'user',
      parts: [{ type: 'toolResult', callId, parts: [text(value)] }],
    });
    assert.deepEqual(conversation.turns, [
      asked('c1', '{"query":"agents"}'),
      found('c1', 'These tools can be called now: a__b'),
      asked('c2', '{"query":"x"}'),
      found('c2', 'No tools were found.'),
    ]);
    assert.deepEqual(conversation.tools, [
      { kind: 'function', name: 'tool_search' },
      { kind: 'function', name: 'a__b' },
    ]);
  });

  it('a search for tools that the provider runs, or whose name is taken, which is left out', () => {
    const hosted = { kind: 'hosted', type: 'tool_search' };
    const taken = { type: 'function', name: 'tool_search' };
    const client = { type: 'tool_search', execution: 'client' };
    for (const [tools, expected] of [
      [[{ type: 'tool_search' }], [hosted]],
      [
        [taken, client],
        [{ kind: 'function', name: 'tool_search' }, hosted],
      ],
    ]) {
      const conversation = readWith({ tools });
      assert.deepEqual(conversation.tools, expected);
      assert.equal(conversation.hasToolSearch, undefined);
    }
    const { dropped } = read({
      model: 'm',
      input: [
        { type: 'tool_search_call', arguments: {} },
        { type: 'tool_search_output', tools: [] },
      ],
    });
    assert.deepEqual(dropped, ['input[tool_search_call]']);
  });

  it('names the members that it leaves out', () => {
    const { dropped } = read({
      model: 'm',
      input: [
        { type: 'web_search_call', id: 'ws_1' },
        { type: 'file_search_call', id: 'fs_1', queries: ['q'] },
        { type: 'mcp_call', id: 'mcp_1', name: 'f', arguments: '{}', output: 'r' },
        { type: 'item_reference', id: 'rs_1' },
        { role: 'user', content: 'Hi' },
      ],
      store: true,
      truncation: 'auto',
      include: ['web_search_call.results', 'reasoning.encrypted_content'],
      tools: [{ type: 'function', name: 'f', output_schema: {} }],
      max_tool_calls: null,
    });
    assert.deepEqual(dropped, [
      'truncation',
      'store',
      'tools.output_schema',
      'input[web_search_call]',
      'input[file_search_call]',
      'input[mcp_call]',
      'input[item_reference]',
      'include[web_search_call.results]',
    ]);
  });
});
