import type { FeatureSamples } from './feature-table.test.ts';

// One messages request for each feature.

const said = (...content: unknown[]) => ({ messages: [{ role: 'user', content }] });
const weather = { name: 'weather', input_schema: { type: 'object', properties: {} } };
const called = {
  role: 'assistant',
  content: [
    { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Lahore' } },
    { type: 'tool_use', id: 'toolu_2', name: 'weather', input: { city: 'Karachi' } },
  ],
};
const result = (members: object) => ({
  messages: [
    called,
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', ...members }] },
  ],
});
const assistant = (...content: unknown[]) => ({
  messages: [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: [{ type: 'text', text: 'Yes?' }, ...content] },
  ],
});
const pdf = { type: 'base64', media_type: 'application/pdf', data: 'AAAA' };
const schema = {
  type: 'object',
  properties: { a: { type: 'string' } },
  required: ['a'],
  additionalProperties: false,
};

export const MESSAGES_SAMPLES: FeatureSamples = {
  instructions: {
    body: { system: [{ type: 'text', text: 'Be kind.' }] },
    sent: { chat: '{"role":"system","content":"Be kind."}' },
  },
  laterInstructions: {
    body: {
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Go' },
      ],
    },
    sent: { chat: '{"role":"user","content":"Hi"},{"role":"system","content":"Be brief."},{"role":"user"' },
  },
  text: { body: said({ type: 'text', text: 'Salam' }), sent: { chat: '{"role":"user","content":"Salam"}' } },
  imageUrl: {
    body: said({ type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }),
    sent: { chat: '{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}' },
  },
  imageBase64: {
    body: said({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }),
    sent: { chat: '{"url":"data:image/png;base64,AAAA"}' },
  },
  pdf: {
    body: said({ type: 'document', source: pdf, title: 'a.pdf' }),
    sent: {
      chat: '{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,AAAA"}}',
    },
  },
  textDocument: {
    body: said({
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: 'Words.' },
      title: 'A',
    }),
    sent: { chat: 'A\\n\\nWords.' },
  },
  documentUrl: {
    body: said({ type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } }),
    sent: { responses: 'https://example.com/a.pdf' },
    path: 'document.source',
  },
  documentContext: {
    body: said({ type: 'document', source: pdf, context: 'From the archive' }),
    path: 'document.context',
  },
  fileId: {
    body: said({ type: 'image', source: { type: 'file', file_id: 'file_1' } }),
    path: 'messages[0].content[0].source',
  },
  audioInput: { body: said({ type: 'video', source: {} }), path: 'messages[0].content[0]' },
  searchResults: { body: said({ type: 'search_result', content: [] }), path: 'messages[0].content[0]' },
  reasoningText: { body: assistant({ type: 'thinking', thinking: 'Hm.', signature: '' }), path: 'thinking' },
  reasoningSeal: { body: assistant({ type: 'redacted_thinking', data: 'c2ln' }), path: 'thinking' },
  functions: {
    body: { tools: [weather] },
    sent: {
      chat: '{"type":"function","function":{"name":"weather","parameters":{"type":"object","properties":{}}}}',
    },
  },
  strictFunctions: {
    body: { tools: [{ ...weather, input_schema: schema, strict: true }] },
    sent: { chat: '"strict":true' },
  },
  hostedTools: {
    body: { tools: [weather, { type: 'web_search_20250305', name: 'web_search' }] },
    path: 'tools[web_search_20250305]',
  },
  forcedHostedTool: {
    body: {
      tools: [weather, { type: 'web_search_20250305', name: 'web_search' }],
      tool_choice: { type: 'tool', name: 'web_search' },
    },
    path: 'tool_choice',
  },
  hostedCalls: {
    body: assistant({ type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }),
    path: 'messages[1].content[1]',
  },
  toolChoice: {
    body: { tools: [weather], tool_choice: { type: 'any' } },
    sent: { chat: '"tool_choice":"required"' },
  },
  parallelToolCalls: {
    body: { tools: [weather], tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
    sent: { chat: '"parallel_tool_calls":false' },
  },
  toolCalls: {
    body: { messages: [called], tools: [weather] },
    sent: {
      chat: '{"id":"toolu_2","type":"function","function":{"name":"weather","arguments":"{\\"city\\":\\"Karachi\\"}"}}',
    },
  },
  toolResults: {
    body: result({ content: 'Dust.' }),
    sent: { chat: '{"role":"tool","tool_call_id":"toolu_1","content":"Dust."}' },
  },
  toolResultImages: {
    body: result({ content: [{ type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }] }),
    sent: { chat: '"text":"Returned by the tool call toolu_1:"},{"type":"image_url"' },
  },
  toolResultDocuments: {
    body: result({ content: [{ type: 'document', source: pdf }] }),
    sent: { chat: '"text":"Returned by the tool call toolu_1:"},{"type":"file"' },
  },
  toolResultErrors: { body: result({ content: 'No.', is_error: true }), path: 'tool_result.is_error' },
  citations: {
    body: said({ type: 'document', source: pdf, citations: { enabled: true } }),
    path: 'messages[0].content[0].citations',
  },
  outputCap: { body: { max_tokens: 77 }, sent: { chat: '"max_completion_tokens":77' } },
  stop: { body: { stop_sequences: ['END'] }, sent: { chat: '"stop":["END"]' }, path: 'stop_sequences' },
  temperature: { body: { temperature: 0.25 }, sent: { chat: '"temperature":0.25' } },
  topP: { body: { top_p: 0.25 }, sent: { chat: '"top_p":0.25' } },
  topK: { body: { top_k: 7 }, path: 'top_k' },
  jsonSchema: {
    body: { output_config: { format: { type: 'json_schema', schema } } },
    sent: { chat: `"json_schema":{"name":"answer","strict":true,"schema":${JSON.stringify(schema)}}` },
  },
  reasoningEffort: {
    body: { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
    sent: { chat: '"reasoning_effort":"high"' },
  },
  reasoningBudget: {
    body: { thinking: { type: 'enabled', budget_tokens: 10_000 } },
    sent: { chat: '"reasoning_effort":"medium"' },
  },
  reasoningOff: { body: { thinking: { type: 'disabled' } }, sent: { chat: '"reasoning_effort":"none"' } },
  reasoningDisplay: {
    body: { thinking: { type: 'adaptive', display: 'omitted' } },
    path: 'thinking.display',
  },
  cacheControl: {
    body: said({ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }),
    path: 'cache_control',
  },
  user: { body: { metadata: { user_id: 'u-1' } }, sent: { chat: '"user":"u-1"' } },
  serviceTier: { body: { service_tier: 'standard_only' }, sent: { chat: '"service_tier":"default"' } },
  mcpServers: { body: { mcp_servers: [{ type: 'url', url: 'https://example.com' }] }, path: 'mcp_servers' },
  unknownMember: { body: { context_management: { edits: [] } }, path: 'context_management' },
};
