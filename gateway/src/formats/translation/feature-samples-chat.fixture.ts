import type { FeatureSamples } from './feature-table.test.ts';

// One chat request for each feature.

const said = (...content: unknown[]) => ({ messages: [{ role: 'user', content }] });
const weather = {
  type: 'function',
  function: { name: 'weather', parameters: { type: 'object', properties: {} } },
};
const called = {
  role: 'assistant',
  content: null,
  tool_calls: [
    { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Lahore"}' } },
    { id: 'call_2', type: 'function', function: { name: 'weather', arguments: '{"city":"Karachi"}' } },
  ],
};
const answered = [
  { role: 'user', content: 'Hi' },
  called,
  { role: 'tool', tool_call_id: 'call_1', content: 'Dust.' },
  { role: 'tool', tool_call_id: 'call_2', content: 'Haze.' },
];
const assistant = (members: object) => ({
  messages: [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Yes?', ...members },
    { role: 'user', content: 'Go' },
  ],
});
const schema = {
  type: 'object',
  properties: { a: { type: 'string' } },
  required: ['a'],
  additionalProperties: false,
};

export const CHAT_SAMPLES: FeatureSamples = {
  instructions: {
    body: {
      messages: [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'Hi' },
      ],
    },
    sent: { messages: '"system":"Be kind."' },
  },
  laterInstructions: {
    body: {
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'developer', content: 'Be brief.' },
        { role: 'user', content: 'Go' },
      ],
    },
    sent: { messages: '<system>\\nBe brief.\\n</system>' },
  },
  text: {
    body: said({ type: 'text', text: 'Salam' }),
    sent: { messages: '{"role":"user","content":"Salam"}' },
  },
  imageUrl: {
    body: said({ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }),
    sent: { messages: '{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}}' },
  },
  imageBase64: {
    body: said({ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }),
    sent: { messages: '"source":{"type":"base64","media_type":"image/png","data":"AAAA"}' },
  },
  imageDetail: {
    body: said({ type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'low' } }),
    path: 'image_url.detail',
  },
  pdf: {
    body: said({ type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' } }),
    sent: {
      messages:
        '{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"AAAA"},"title":"a.pdf"}',
    },
  },
  fileId: { body: said({ type: 'file', file: { file_id: 'file-1' } }), path: 'messages[0].content[0].file' },
  audioInput: {
    body: said({ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }),
    path: 'messages[0].content[0]',
  },
  reasoningText: { body: assistant({ reasoning_content: 'Hm.' }), path: 'reasoning_content' },
  reasoningSeal: {
    body: assistant({
      reasoning_details: [
        { type: 'reasoning.text', text: 'Hm.', signature: 'c2ln', format: 'anthropic-claude-v1' },
      ],
    }),
    bodyFor: {
      responses: assistant({
        reasoning_details: [{ type: 'reasoning.encrypted', data: 'c2ln', format: 'openai-responses-v1' }],
      }),
    },
    sent: {
      messages: '{"type":"thinking","thinking":"Hm.","signature":"c2ln"}',
      responses: '"encrypted_content":"c2ln"',
    },
    path: 'reasoning_details',
  },
  extraContent: {
    body: {
      messages: [
        {
          role: 'assistant',
          tool_calls: [
            {
              id: 'a',
              type: 'function',
              function: { name: 'f', arguments: '{}' },
              extra_content: { google: {} },
            },
          ],
        },
      ],
    },
    path: 'messages[0].tool_calls[0].extra_content',
  },
  refusals: { body: assistant({ content: null, refusal: 'I cannot.' }), sent: { messages: 'I cannot.' } },
  functions: {
    body: { tools: [weather] },
    sent: { messages: '"tools":[{"name":"weather","input_schema":{"type":"object","properties":{}}}]' },
  },
  strictFunctions: {
    body: { tools: [{ type: 'function', function: { name: 'weather', parameters: schema, strict: true } }] },
    sent: { messages: '"strict":true' },
  },
  customTools: {
    body: { tools: [{ type: 'custom', custom: { name: 'patch' } }] },
    sent: {
      messages: '"name":"patch","input_schema":{"type":"object","properties":{"input":{"type":"string"',
    },
  },
  customGrammar: {
    body: {
      tools: [
        {
          type: 'custom',
          custom: { name: 'patch', format: { type: 'grammar', grammar: { syntax: 'lark' } } },
        },
      ],
    },
    sent: { responses: 'lark' },
    path: 'tools[patch].format',
  },
  hostedTools: { body: { tools: [weather, { type: 'web_search' }] }, path: 'tools[web_search]' },
  forcedHostedTool: {
    body: { tools: [weather, { type: 'web_search' }], tool_choice: { type: 'web_search' } },
    path: 'tool_choice',
  },
  toolChoice: {
    body: { tools: [weather], tool_choice: { type: 'function', function: { name: 'weather' } } },
    sent: { messages: '"tool_choice":{"type":"tool","name":"weather"}' },
  },
  allowedTools: {
    body: {
      tools: [weather, { type: 'function', function: { name: 'other' } }],
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'weather' } }] },
      },
    },
    sent: {
      messages:
        '"tools":[{"name":"weather","input_schema":{"type":"object","properties":{}}}],"tool_choice":{"type":"any"}',
    },
  },
  parallelToolCalls: {
    body: { tools: [weather], parallel_tool_calls: false },
    sent: { messages: '"tool_choice":{"type":"auto","disable_parallel_tool_use":true}' },
  },
  toolCalls: {
    body: { messages: answered, tools: [weather] },
    sent: { messages: '{"type":"tool_use","id":"call_2","name":"weather","input":{"city":"Karachi"}}' },
  },
  functionCall: { body: { functions: [{ name: 'f' }] }, path: 'functions' },
  toolResults: {
    body: { messages: answered, tools: [weather] },
    sent: {
      messages:
        '[{"type":"tool_result","tool_use_id":"call_1","content":"Dust."},{"type":"tool_result","tool_use_id":"call_2","content":"Haze."}]',
    },
  },
  toolResultImages: {
    body: {
      messages: [
        called,
        {
          role: 'tool',
          tool_call_id: 'call_1',
          content: [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }],
        },
      ],
    },
    sent: {
      messages: '"tool_use_id":"call_1","content":[{"type":"image","source":{"type":"url"',
    },
  },
  toolResultDocuments: {
    body: {
      messages: [
        called,
        {
          role: 'tool',
          tool_call_id: 'call_1',
          content: [{ type: 'file', file: { file_data: 'data:application/pdf;base64,AAAA' } }],
        },
      ],
    },
    sent: { messages: '"tool_use_id":"call_1","content":[{"type":"document"' },
  },
  participantNames: {
    body: { messages: [{ role: 'user', name: 'amina', content: 'Hi' }] },
    path: 'messages[0].name',
  },
  outputCap: { body: { max_completion_tokens: 77 }, sent: { messages: '"max_tokens":77' } },
  stop: { body: { stop: ['END'] }, sent: { messages: '"stop_sequences":["END"]' }, path: 'stop' },
  blankStop: { body: { stop: '\n' }, path: 'stop' },
  temperature: { body: { temperature: 0.25 }, sent: { messages: '"temperature":0.25' } },
  topP: { body: { top_p: 0.25 }, sent: { messages: '"top_p":0.25' } },
  topK: { body: { top_k: 7 }, sent: { messages: '"top_k":7' }, path: 'top_k' },
  penalties: { body: { presence_penalty: 0.5 }, path: 'presence_penalty' },
  seed: { body: { seed: 7 }, path: 'seed' },
  logitBias: { body: { logit_bias: { 50256: -100 } }, path: 'logit_bias' },
  logprobs: { body: { logprobs: true, top_logprobs: 3 }, path: 'logprobs' },
  choices: { body: { n: 2 }, path: 'n' },
  jsonObject: { body: { response_format: { type: 'json_object' } }, path: 'response_format' },
  jsonSchema: {
    body: { response_format: { type: 'json_schema', json_schema: { name: 'x', strict: true, schema } } },
    sent: {
      messages: `"output_config":{"format":{"type":"json_schema","schema":${JSON.stringify(schema)}}}`,
    },
  },
  schemaBounds: {
    body: {
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'x', schema: { ...schema, properties: { a: { type: 'integer', minimum: 1 } } } },
      },
    },
    path: 'response_format.json_schema.schema',
  },
  textDocument: {
    body: said({ type: 'file', file: { filename: 'a.txt', file_data: 'data:text/plain;base64,V29yZHMu' } }),
    sent: { messages: '"data":"Words."', responses: 'a.txt\\n\\nWords.' },
  },
  schemaDescription: {
    body: {
      response_format: { type: 'json_schema', json_schema: { name: 'x', description: 'About x', schema } },
    },
    sent: { responses: 'About x' },
    path: 'response_format.json_schema.description',
  },
  reasoningEffort: {
    body: { reasoning_effort: 'high' },
    sent: { messages: '"thinking":{"type":"adaptive"},"output_config":{"effort":"high"}' },
  },
  reasoningOff: { body: { reasoning_effort: 'none' }, sent: { messages: '"thinking":{"type":"disabled"}' } },
  verbosity: { body: { verbosity: 'low' }, path: 'verbosity' },
  cacheControl: {
    body: said({ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral', ttl: '1h' } }),
    sent: { messages: '"cache_control":{"type":"ephemeral","ttl":"1h"}' },
    path: 'cache_control',
  },
  user: { body: { user: 'u-1' }, sent: { messages: '"metadata":{"user_id":"u-1"}' } },
  metadata: { body: { metadata: { a: 'b' } }, path: 'metadata' },
  store: { body: { store: true }, path: 'store' },
  promptCacheKey: { body: { prompt_cache_key: 'k-1' }, path: 'prompt_cache_key' },
  serviceTier: { body: { service_tier: 'default' }, sent: { messages: '"service_tier":"standard_only"' } },
  audioOutput: { body: { modalities: ['text', 'audio'] }, path: 'modalities' },
  webSearchOptions: { body: { web_search_options: {} }, path: 'web_search_options' },
  unknownMember: { body: { min_p: 0.1 }, path: 'min_p' },
};
