import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DEFAULT_DENY, type MemberRule } from '@gatehouse/contract';
import { deniedMember } from './denied-member.ts';

const TOO_LARGE = undefined;

/** As the gateway knows a body's members; `toolTypes` as it finds them unless given. */
function judge(
  body: Record<string, unknown>,
  rules: {
    deny?: readonly MemberRule[];
    allow?: readonly MemberRule[];
    toolTypes?: readonly string[];
    references?: readonly string[];
  } = {},
) {
  const tools = Array.isArray(body['tools']) ? (body['tools'] as { type?: unknown }[]) : [];
  const types = tools.map(({ type }) => (typeof type === 'string' ? type : ''));
  return deniedMember(rules.deny ?? DEFAULT_DENY, () => rules.allow ?? [], {
    members: new Map(Object.entries(body)),
    toolTypes: rules.toolTypes ?? [...new Set(types)],
    references: rules.references ?? [],
  });
}

const fn = { type: 'function', function: { name: 'f', parameters: {} } };

describe('deniedMember with the list that ships', () => {
  const denied: [string, Record<string, unknown>, string | undefined][] = [
    ['service_tier', { service_tier: 'priority' }, 'priority'],
    ['service_tier', { service_tier: 'fast' }, 'fast'],
    ['service_tier', { service_tier: 'performance' }, 'performance'],
    ['service_tier', { service_tier: 'Priority' }, 'Priority'],
    ['service_tier', { service_tier: ['priority'] }, 'priority'],
    ['service_tier', { service_tier: {} }, undefined],
    ['service_tier', { service_tier: TOO_LARGE }, undefined],
    ['service_tier', { Service_Tier: 'priority' }, 'priority'],
    ['service_tier', { ſervice_tier: 'priority' }, 'priority'],
    ['speed', { speed: 'fast' }, 'fast'],
    ['inference_geo', { inference_geo: 'us' }, 'us'],
    ['web_search_options', { web_search_options: {} }, undefined],
    ['web_search_options', { web_search_options: { search_context_size: 'high' } }, undefined],
    ['search_parameters', { search_parameters: { mode: 'on' } }, undefined],
    ['enable_search', { enable_search: true }, undefined],
    ['container', { container: 'container_1' }, undefined],
    ['thread', { thread: { type: 'continue', previous_message_id: 'msg_1' } }, undefined],
    ['billing_policy', { billing_policy: { type: 'billing_policy', bill_to: 'user_profile' } }, undefined],
    ['tools', { tools: [{ type: 'web_search_20250305' }] }, 'web_search_20250305'],
    ['tools', { tools: [{ type: 'code_execution_20250825' }] }, 'code_execution_20250825'],
    ['tools', { tools: [{ type: 'bash_20250124' }, { type: 'mcp_toolset' }] }, 'mcp_toolset'],
    ['mcp_servers', { mcp_servers: [{ type: 'url', url: 'https://example.com' }] }, undefined],
    ['modalities', { modalities: ['text', 'audio'] }, 'audio'],
    ['modalities', { modalities: ['image', 'text'] }, 'image'],
    ['audio', { audio: { voice: 'alloy', format: 'wav' } }, undefined],
    ['models', { models: ['openai/gpt-6-sol'] }, undefined],
    ['models', { models: TOO_LARGE }, undefined],
    ['route', { route: 'fallback' }, undefined],
    ['provider', { provider: { order: ['Azure'] } }, undefined],
    ['plugins', { plugins: [{ id: 'web' }] }, undefined],
    ['preset', { preset: 'dear' }, undefined],
    ['fallbacks', { fallbacks: [{ model: 'other' }] }, undefined],
    ['tools', { tools: [fn, { type: 'web_search' }] }, 'web_search'],
    ['tools', { tools: [{ type: 'web_search_preview' }] }, 'web_search_preview'],
    ['tools', { tools: [{ type: 'file_search', vector_store_ids: [] }] }, 'file_search'],
    ['tools', { tools: [{ type: 'code_interpreter' }] }, 'code_interpreter'],
    ['tools', { tools: [{ type: 'computer_use' }] }, 'computer_use'],
    ['tools', { tools: [{ type: 'mcp', server_url: 'https://example.com' }] }, 'mcp'],
    ['tools', { tools: [{ google_search: {} }] }, undefined],
    ['tools', { tools: [{ type: ['web_search'] }] }, undefined],
    ['tools', { tools: { type: 'web_search' } }, 'web_search'],
  ];
  for (const [member, body, value] of denied) {
    it(`denies ${JSON.stringify(body)}, naming ${member}`, () => {
      const found = judge(body);
      assert.deepEqual([found?.member, found?.value], [member, value]);
    });
  }

  it('denies a hosted tool in a list too large to be kept, and a list whose types nobody knows', () => {
    const body = { tools: TOO_LARGE };
    assert.equal(judge(body, { toolTypes: ['function', 'web_search'] })?.value, 'web_search');
    assert.equal(judge(body, { toolTypes: ['function', 'custom'] }), undefined);
    assert.equal(judge(body, { toolTypes: ['function', ''] })?.member, 'tools');
    assert.equal(judge(body)?.member, 'tools');
  });

  it('denies a reference wherever it stands, unless the catalogue allows it', () => {
    const references = ['file_id', 'prompt.id'];
    assert.equal(judge({}, { references })?.member, 'file_id');
    const allow = [{ member: 'file_id', values: null }];
    assert.equal(judge({}, { references, allow })?.member, 'prompt.id');
    assert.equal(judge({}, { references: ['file_id'], allow }), undefined);
    assert.equal(judge({}, { references, deny: [] }), undefined);
    assert.equal(judge({}, { references: ['cachedcontent'] })?.member, 'cachedContent');
  });

  const passed: [string, Record<string, unknown>][] = [
    ['nothing but the least', { model: 'm', messages: [] }],
    ['null everywhere', Object.fromEntries(DEFAULT_DENY.map(({ member }) => [member, null]))],
    ['empty lists and no', { tools: [], models: [], plugins: [], enable_search: false, modalities: [] }],
    ['the ordinary tiers', { service_tier: 'auto', speed: 'standard', inference_geo: 'global' }],
    ['a cheaper tier', { service_tier: 'flex' }],
    ['the OpenAI SDK', { stream: true, stream_options: { include_usage: true }, n: 1, store: false }],
    ['tools of its own', { tools: [fn, { type: 'custom', custom: { name: 'c' } }], tool_choice: 'auto' }],
    [
      "Anthropic's tools that run in the caller's program",
      { tools: [{ type: 'bash_20250124' }, { type: 'text_editor_20250728' }, { type: 'custom' }] },
    ],
    [
      'a coding agent of Anthropic',
      {
        system: TOO_LARGE,
        metadata: { user_id: '{}' },
        thinking: { type: 'adaptive' },
        context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
        output_config: { effort: 'high' },
      },
    ],
    [
      'the AI SDK and LangChain',
      {
        service_tier: 'default',
        parallel_tool_calls: true,
        reasoning_effort: 'low',
        max_completion_tokens: 9,
        metadata: { a: 'b' },
        prediction: null,
        response_format: { type: 'json_object' },
        modalities: ['text'],
      },
    ],
    [
      'Cline and its kin',
      { reasoning: { effort: 'high' }, include_reasoning: true, transforms: ['middle-out'] },
    ],
    ['LibreChat', { user: 'u', stop: ['x'], presence_penalty: 0, frequency_penalty: 0, promptCache: true }],
    [
      'members that nobody knows',
      { a_new_member: { of: 'tomorrow' }, prompt_cache_key: 'k', large: TOO_LARGE },
    ],
  ];
  for (const [what, body] of passed) {
    it(`passes ${what}`, () => assert.equal(judge(body), undefined));
  }
});

describe('deniedMember with a catalogue of its own', () => {
  const deny = [
    { member: 'service_tier', values: ['auto'] },
    { member: 'models', values: null },
    { member: 'n', values: ['1'] },
  ];

  it('keeps to that list and no other', () => {
    assert.equal(judge({ service_tier: 'priority' }, { deny: [] }), undefined);
    assert.equal(judge({ service_tier: 'flex' }, { deny })?.value, 'flex');
    assert.equal(judge({ web_search_options: {} }, { deny }), undefined);
    assert.equal(judge({ n: 1 }, { deny }), undefined);
    assert.equal(judge({ n: 2 }, { deny })?.value, '2');
  });

  it('lifts a member as a whole', () => {
    const allow = [
      { member: 'service_tier', values: null },
      { member: 'models', values: null },
    ];
    assert.equal(judge({ service_tier: 'priority', models: ['a'] }, { deny, allow }), undefined);
    assert.equal(judge({ service_tier: TOO_LARGE }, { deny, allow }), undefined);
  });

  it('lifts single values, those of the provider and of the route together', () => {
    const allow = [
      { member: 'service_tier', values: ['flex'] },
      { member: 'service_tier', values: ['priority'] },
      { member: 'models', values: ['a', 'b'] },
    ];
    for (const tier of ['auto', 'flex', 'priority']) {
      assert.equal(judge({ service_tier: tier }, { deny, allow }), undefined);
    }
    assert.deepEqual(judge({ service_tier: 'scale' }, { deny, allow }), {
      member: 'service_tier',
      value: 'scale',
      allowed: ['auto', 'flex', 'priority'],
    });
    assert.equal(judge({ models: ['a', 'b'] }, { deny, allow }), undefined);
    assert.equal(judge({ models: ['a', 'c'] }, { deny, allow })?.value, 'c');
  });

  it('lifts one hosted tool and no other', () => {
    const allow = [{ member: 'tools', values: ['web_search'] }];
    assert.equal(judge({ tools: [fn, { type: 'web_search' }] }, { allow }), undefined);
    assert.equal(judge({ tools: [{ type: 'web_search' }, { type: 'mcp' }] }, { allow })?.value, 'mcp');
  });
});
