import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { claudeCodeBody } from '../../testing/claude-code-body.ts';
import { callsOf, upstreamBody } from '../../testing/test-call.ts';
import { countTokens } from '../../tokens/count-tokens.ts';
import { readRequest } from '../read-request.ts';

const messages = [{ role: 'user', content: 'Hi' }];
const MESSAGES = JSON.stringify(messages);

describe('a message request', () => {
  for (const [members, param] of [
    ['', 'messages'],
    ['"messages":null', 'messages'],
    ['"messages":[]', 'messages'],
    ['"messages":"Hi"', 'messages'],
    ['"messages":["Hi"]', 'messages'],
    ['"messages":{"0":{},"length":1}', 'messages'],
    ...[
      ['"stream":"true"', 'stream'],
      ['"max_tokens":-1', 'max_tokens'],
      ['"max_tokens":1.5', 'max_tokens'],
      ['"max_tokens":"5"', 'max_tokens'],
      ['"max_tokens":9007199254740992', 'max_tokens'],
      ['"max_tokens":1,"max_tok\\u0065ns":100000', 'max_tokens'],
      ['"Max_Tokens":100000', 'max_tokens'],
      ['"max_to\\u212aens":100000', 'max_tokens'],
      ['"SYSTEM":"x"', 'system'],
      ['"Mcp_servers":[]', 'mcp_servers'],
      [`"tools":[${Array.from({ length: 33 }, (_, index) => `{"type":"t${index}"}`).join(',')}]`, 'tools'],
    ].map(([other, param]) => [`"messages":${MESSAGES},${other}`, param] as const),
  ] as const) {
    it(`is refused for ${param} in {${String(members).slice(0, 100)}}`, async () => {
      const body = Buffer.from(`{"model":"m"${members && `,${members}`}}`);
      const reading = await readRequest('messages', body);
      assert.ok(reading.kind === 'refused');
      assert.deepEqual([reading.issue.status, reading.issue.param], [400, param]);
      if (param === 'messages' || param === 'tools' || param === 'system')
        assert.equal((await readRequest('count_tokens', body)).kind, 'refused');
    });
  }

  for (const [cap, read] of [
    ['64000', 64_000],
    ['0', 0],
    ['null', undefined],
  ] as const) {
    it(`has ${read} as its output cap for ${cap}`, async () => {
      const call = await callsOf('messages', `{"model":"m","messages":${MESSAGES},"max_tokens":${cap}}`);
      assert.equal(call().outputCap, read);
    });
  }

  for (const [thinking, least] of [
    [{ type: 'enabled', budget_tokens: 10_000 }, 10_001],
    [{ type: 'adaptive' }, undefined],
    [{ type: 'enabled', budget_tokens: '10000' }, undefined],
    [{ type: 'enabled', budget_tokens: 2 ** 53 - 1 }, undefined],
    [null, undefined],
  ] as const) {
    it(`needs a cap of at least ${least} for ${JSON.stringify(thinking)}`, async () => {
      assert.equal((await callsOf('messages', { messages, thinking }))().leastOutputCap, least);
    });
  }

  it('has one choice, and none when it is only counted', async () => {
    const body = { messages, stream: true, max_tokens: 5 };
    const [call, count] = [(await callsOf('messages', body))(), (await callsOf('count_tokens', body))()];
    assert.deepEqual([call.choices, call.isStream, call.outputCap, call.showsUsage], [1, true, 5, true]);
    assert.deepEqual([count.choices, count.isStream, count.outputCap], [0, false, undefined]);
    assert.equal(count.promptTokens, call.promptTokens);
  });

  for (const [before, after] of [
    ['{"model":"m","messages":[{}]}', '{"model":"up","max_tokens":9,"messages":[{}]}'],
    [
      ' {\n "x" : 9007199254740993, "model" : "m" , "max_tokens" :64000, "messages": [ {"y":1.0} ]\r\n} ',
      ' {\n "x" : 9007199254740993, "model" : "up" , "max_tokens" :9, "messages": [ {"y":1.0} ]\r\n} ',
    ],
    [
      '{"max_tokens":null,"model":"m","messages":[{}],"stream":true,"stream_options":{}}',
      '{"max_tokens":9,"model":"up","messages":[{}],"stream":true,"stream_options":{}}',
    ],
  ] as const) {
    it(`sends ${JSON.stringify(before)} on byte for byte but for the model and the cap`, async () => {
      const call = (await callsOf('messages', before))();
      for (const outputLimit of ['max_tokens', 'max_completion_tokens', 'both'] as const) {
        const again = { ...call, takeBody: () => Buffer.from(before) };
        assert.equal(upstreamBody('messages', again, { outputCap: 9, outputLimit }), after);
      }
    });
  }

  it('is sent on byte for byte when a coding agent sends it, and so is its count', async () => {
    const body = claudeCodeBody();
    assert.ok(body.length > 80_000 && body.length < 95_000, `${body.length}`);
    const calls = await callsOf('messages', body);
    const same = upstreamBody('messages', calls(), { upstreamModel: 'claude-opus-4-8', outputCap: 64_000 });
    assert.equal(same, body);
    const lowered = upstreamBody('messages', calls(), { outputCap: 32_000 });
    assert.equal(
      lowered,
      body.replace('"claude-opus-4-8"', '"up"').replace('"max_tokens":64000', '"max_tokens":32000'),
    );
    const counted = (await callsOf('count_tokens', body))();
    assert.equal(upstreamBody('count_tokens', counted, {}), body.replace('"claude-opus-4-8"', '"up"'));
  });

  it('of a coding agent holds nothing that cannot be counted, nor a hosted tool', async () => {
    const call = (await callsOf('messages', claudeCodeBody()))();
    assert.deepEqual([call.uncountableParts, call.toolTypes], [[], ['custom']]);
    assert.ok(call.promptTokens > 15_000 && call.promptTokens < 30_000, `${call.promptTokens}`);
  });

  const image = {
    type: 'image',
    source: { type: 'base64', media_type: 'image/png', data: 'A'.repeat(9_000) },
  };
  const user = (...content: unknown[]) => ({ messages: [{ role: 'user', content }] });
  for (const [title, members, texts, overhead, uncountable] of [
    ['text', { messages }, ['Hi'], 7, []],
    ['a system prompt', { messages, system: 'Be kind.' }, ['Be kind.', 'Hi'], 7, []],
    [
      'a system prompt in blocks',
      { messages, system: [{ type: 'text', text: 'Be kind.', cache_control: { type: 'ephemeral' } }] },
      ['Be kind.', 'Hi', 'cache_control {"type":"ephemeral"}'],
      7,
      [],
    ],
    [
      'a system message between the others',
      { messages: [...messages, { role: 'system', content: 'Now.' }] },
      ['Hi', 'Now.'],
      11,
      [],
    ],
    ['an image', user(image), [], 7 + 5_000, ['image']],
    [
      'a document that is a file',
      user({ type: 'document', title: 'T', source: { type: 'base64', data: 'A'.repeat(9_000) } }),
      ['T'],
      7 + 20_000,
      ['document'],
    ],
    [
      'a document of text',
      user({ type: 'document', context: 'C', source: { type: 'text', data: 'Text.' } }),
      ['C', 'Text.'],
      7,
      [],
    ],
    [
      'a document of blocks',
      user({ type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'x' }, image] } }),
      ['x'],
      7 + 5_000,
      ['image'],
    ],
    ['a document without a source', user({ type: 'document' }), [], 7 + 20_000, ['document']],
    [
      'the result of a tool with an image',
      user({ type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'See:' }, image] }),
      ['See:'],
      7 + 4 + 1 + 5_000,
      ['image'],
    ],
    ['the result of a tool as text', user({ type: 'tool_result', content: 'Done.' }), ['Done.'], 11, []],
    [
      'the call of a tool',
      {
        messages: [
          { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: { a: 1 } }] },
        ],
      },
      ['f', '{"a":1}'],
      12,
      [],
    ],
    [
      'thinking',
      user(
        { type: 'thinking', thinking: 'Hm.', signature: 'A'.repeat(401) },
        { type: 'redacted_thinking', data: 'ABC' },
      ),
      ['Hm.'],
      7 + 101 + 1,
      [],
    ],
    [
      'a compaction',
      user({ type: 'compaction', content: 'So far.', encrypted_content: 'ABCD' }),
      ['So far.'],
      8,
      [],
    ],
    [
      'a search result of the caller',
      user({ type: 'search_result', source: 'S', title: 'T', content: [{ type: 'text', text: 'x' }] }),
      ['S', 'T', 'x'],
      7,
      [],
    ],
    [
      'what a hosted search found',
      user({ type: 'web_search_tool_result', content: [{ url: 'u' }] }),
      ['{"type":"web_search_tool_result","content":[{"url":"u"}]}'],
      7,
      [],
    ],
    [
      'a fetched file',
      user({
        type: 'web_fetch_tool_result',
        content: { content: { type: 'document', source: { type: 'base64' } } },
      }),
      [],
      7 + 20_000,
      ['document'],
    ],
    ['a fetch that failed', user({ type: 'web_fetch_tool_result', content: { x: 1 } }), ['{"x":1}'], 7, []],
    [
      'a file in a container',
      user({ type: 'container_upload', file_id: 'f' }),
      ['file_id f'],
      7 + 20_000,
      ['container_upload'],
    ],
    ['blocks of an unknown kind', user({ type: 'x', y: 1 }), ['{"type":"x","y":1}'], 7, ['x']],
    [
      'blocks of no kind',
      user({ type: { toString: 1 } }, null, 7, 'text'),
      ['{"type":{"toString":1}}', '7', 'text'],
      7,
      ['unknown'],
    ],
    [
      'one block without its list',
      { messages: [{ role: 'user', content: image }] },
      [],
      7 + 5_000,
      ['image'],
    ],
    ['tools', { messages, tools: [{ name: 'f' }] }, ['Hi', '[{"name":"f"}]'], 7 + 500, []],
    [
      'a tool that Anthropic defines',
      { messages, tools: [{ type: 'bash_20250124', name: 'bash' }] },
      ['Hi', '[{"type":"bash_20250124","name":"bash"}]'],
      7 + 500 + 2_000,
      [],
    ],
    ['no tools', { messages, tools: [] }, ['Hi', '[]'], 7, []],
    [
      'a schema for the answer',
      { messages, output_config: { format: { type: 'json_schema' } } },
      ['Hi', '{"format":{"type":"json_schema"}}'],
      7,
      [],
    ],
    [
      'servers whose tools are not in the body',
      { messages, mcp_servers: [{ url: 'u' }], container: { skills: [] }, thread: null },
      ['Hi', 'mcp_servers [{"url":"u"}] container {"skills":[]} thread null'],
      7,
      ['mcp_servers', 'container'],
    ],
    [
      'a conversation that the provider may compact',
      { messages, context_management: { edits: [{ type: 'compact_20260112' }, null] } },
      ['Hi', 'context_management {"edits":[{"type":"compact_20260112"},null]}'],
      7,
      ['context_management'],
    ],
    [
      'a conversation of which the provider clears parts',
      { messages, context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } },
      ['Hi', 'context_management {"edits":[{"type":"clear_tool_uses_20250919"}]}'],
      7,
      [],
    ],
  ] as const) {
    it(`is sized by what a model reads: ${title}`, async () => {
      const call = (await callsOf('messages', members))();
      assert.equal(call.promptTokens, overhead + (await countTokens(texts)));
      assert.deepEqual(call.uncountableParts, uncountable);
    });
  }

  it('has the types of its tools, of which one without a type is its own', async () => {
    const tools = [{ name: 'a' }, { type: 'custom' }, { type: null }, { type: 'web_search_20250305' }, {}];
    assert.deepEqual((await callsOf('messages', { messages, tools }))().toolTypes, [
      'custom',
      'web_search_20250305',
    ]);
  });
});
