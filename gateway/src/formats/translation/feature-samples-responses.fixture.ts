import type { FeatureSamples } from './feature-table.test.ts';

// One responses request for each feature.

const user = { role: 'user', content: 'Hi' };
const said = (...content: unknown[]) => ({ input: [{ role: 'user', content }] });
const after = (...items: unknown[]) => ({ input: [user, ...items] });
const assistant = (...content: unknown[]) =>
  after({ type: 'message', role: 'assistant', content }, { role: 'user', content: 'Go' });
const weather = { type: 'function', name: 'weather', parameters: { type: 'object', properties: {} } };
const search = { type: 'web_search' };
const call = (id: string) => ({
  type: 'function_call',
  call_id: id,
  name: 'weather',
  arguments: '{"city":"Lahore"}',
});
const result = (...output: unknown[]) =>
  after(call('call_1'), { type: 'function_call_output', call_id: 'call_1', output });
const image = { type: 'input_image', image_url: 'data:image/png;base64,AAAA' };
const pdf = { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,BBBB' };
const schema = {
  type: 'object',
  properties: { a: { type: 'string' } },
  required: ['a'],
  additionalProperties: false,
};
const format = { type: 'json_schema', name: 'answer', schema, strict: true };
// What a translated answer of a messages provider sealed: {"kind":"signature","value":"EqQB"}.
const SIGNED = 'gatehouse.v1.eyJraW5kIjoic2lnbmF0dXJlIiwidmFsdWUiOiJFcVFCIn0';
const thought = (members: object) =>
  after(
    { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }], ...members },
    { role: 'assistant', content: 'Yes?' },
    { role: 'user', content: 'Go' },
  );

export const RESPONSES_SAMPLES: FeatureSamples = {
  instructions: {
    body: { instructions: 'Be kind.' },
    sent: { chat: '{"role":"system","content":"Be kind."}', messages: '"system":"Be kind."' },
  },
  laterInstructions: {
    body: after({ role: 'developer', content: 'Be brief.' }, { role: 'user', content: 'Go' }),
    sent: {
      chat: '{"role":"system","content":"Be brief."}',
      messages: '<system>\\nBe brief.\\n</system>',
    },
  },
  text: {
    body: said({ type: 'input_text', text: 'Salam' }),
    sent: { chat: '"content":"Salam"', messages: '"content":"Salam"' },
  },
  imageUrl: {
    body: said({ type: 'input_image', image_url: 'https://example.com/a.png' }),
    sent: {
      chat: '{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}',
      messages: '"source":{"type":"url","url":"https://example.com/a.png"}',
    },
  },
  imageBase64: {
    body: said(image),
    sent: {
      chat: '{"url":"data:image/png;base64,AAAA"}',
      messages: '"source":{"type":"base64","media_type":"image/png","data":"AAAA"}',
    },
  },
  imageDetail: {
    body: said({ ...image, detail: 'low' }),
    sent: { chat: '"detail":"low"' },
    path: 'input_image.detail',
  },
  pdf: {
    body: said(pdf),
    sent: {
      chat: '"file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,BBBB"}',
      messages: '"source":{"type":"base64","media_type":"application/pdf","data":"BBBB"}',
    },
  },
  documentUrl: {
    body: said({ type: 'input_file', file_url: 'https://example.com/a.pdf' }),
    sent: { messages: '"source":{"type":"url","url":"https://example.com/a.pdf"}' },
    path: 'input_file.file_url',
  },
  fileId: { body: said({ type: 'input_file', file_id: 'file_1' }), path: 'input[0].content[0]' },
  audioInput: { body: said({ type: 'input_audio' }), path: 'input[0].content[0]' },
  reasoningText: { body: thought({}), path: 'reasoning' },
  reasoningSeal: {
    body: thought({ encrypted_content: SIGNED }),
    sent: { messages: '{"type":"thinking","thinking":"Hm.","signature":"EqQB"}' },
    path: 'reasoning',
  },
  refusals: {
    body: assistant({ type: 'refusal', refusal: 'No.' }),
    sent: { chat: '"refusal":"No."', messages: '"content":"No."' },
  },
  functions: {
    body: { tools: [weather] },
    sent: {
      chat: '"function":{"name":"weather","parameters":{"type":"object","properties":{}}}',
      messages: '"tools":[{"name":"weather","input_schema":{"type":"object","properties":{}}}]',
    },
  },
  strictFunctions: {
    body: { tools: [{ ...weather, parameters: schema, strict: true }] },
    sent: { chat: '"strict":true', messages: '"strict":true' },
  },
  customTools: {
    body: { tools: [{ type: 'custom', name: 'patch' }] },
    sent: {
      chat: '"name":"patch","parameters":{"type":"object","properties":{"input":{"type":"string"',
      messages: '"name":"patch","input_schema":{"type":"object","properties":{"input":{"type":"string"',
    },
  },
  customGrammar: {
    body: {
      tools: [
        {
          type: 'custom',
          name: 'patch',
          format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' },
        },
      ],
    },
    path: 'tools[patch].format',
  },
  namespaces: {
    body: { tools: [{ type: 'namespace', name: 'sky', tools: [weather] }] },
    sent: { chat: '"name":"sky__weather"', messages: '"name":"sky__weather"' },
  },
  inputTools: {
    body: { input: [{ type: 'additional_tools', role: 'developer', tools: [weather] }, user] },
    sent: { chat: '"name":"weather"', messages: '"name":"weather"' },
  },
  toolSearch: {
    body: {
      tools: [{ type: 'tool_search', execution: 'client', parameters: { type: 'object' } }],
      input: [
        user,
        { type: 'tool_search_call', call_id: 'call_1', execution: 'client', arguments: { query: 'sky' } },
        { type: 'tool_search_output', call_id: 'call_1', execution: 'client', tools: [weather] },
      ],
    },
    sent: {
      chat: '{"role":"tool","tool_call_id":"call_1","content":"These tools can be called now: weather"}',
      messages: '"content":"These tools can be called now: weather"',
    },
  },
  hostedTools: { body: { tools: [weather, search] }, path: 'tools[web_search]' },
  forcedHostedTool: { body: { tools: [weather, search], tool_choice: search }, path: 'tool_choice' },
  hostedCalls: {
    body: { input: [{ type: 'web_search_call', id: 'ws_1' }, user] },
    path: 'input[web_search_call]',
  },
  toolChoice: {
    body: { tools: [weather], tool_choice: { type: 'function', name: 'weather' } },
    sent: {
      chat: '"tool_choice":{"type":"function","function":{"name":"weather"}}',
      messages: '"tool_choice":{"type":"tool","name":"weather"}',
    },
  },
  allowedTools: {
    body: {
      tools: [weather, { type: 'function', name: 'other' }],
      tool_choice: {
        type: 'allowed_tools',
        mode: 'required',
        tools: [{ type: 'function', name: 'weather' }],
      },
    },
    sent: {
      chat: '"parameters":{"type":"object","properties":{}}}}],"tool_choice":"required"',
      messages: '"input_schema":{"type":"object","properties":{}}}],"tool_choice":{"type":"any"}',
    },
  },
  parallelToolCalls: {
    body: { tools: [weather], parallel_tool_calls: false },
    sent: { chat: '"parallel_tool_calls":false', messages: '"disable_parallel_tool_use":true' },
  },
  toolCalls: {
    body: after(call('call_1'), call('call_2')),
    sent: {
      chat: '{"id":"call_2","type":"function","function":{"name":"weather","arguments":"{\\"city\\":\\"Lahore\\"}"}}',
      messages: '{"type":"tool_use","id":"call_2","name":"weather","input":{"city":"Lahore"}}',
    },
  },
  localShellCalls: {
    body: after({ type: 'local_shell_call', call_id: 'call_1', action: { type: 'exec', command: ['ls'] } }),
    sent: {
      chat: '"name":"local_shell","arguments":"{\\"command\\":[\\"ls\\"]}"',
      messages: '"name":"local_shell","input":{"command":["ls"]}',
    },
  },
  toolResults: {
    body: result({ type: 'input_text', text: 'Dust.' }),
    sent: {
      chat: '{"role":"tool","tool_call_id":"call_1","content":"Dust."}',
      messages: '{"type":"tool_result","tool_use_id":"call_1","content":"Dust."}',
    },
  },
  toolResultImages: {
    body: result(image),
    sent: { chat: '"url":"data:image/png;base64,AAAA"', messages: '"content":[{"type":"image"' },
  },
  toolResultDocuments: {
    body: result(pdf),
    sent: { chat: '"filename":"a.pdf"', messages: '"content":[{"type":"document"' },
  },
  citations: {
    body: assistant({ type: 'output_text', text: 'Yes.', annotations: [{ type: 'url_citation' }] }),
    path: 'input.content.annotations',
  },
  outputCap: {
    body: { max_output_tokens: 50 },
    sent: { chat: '"max_completion_tokens":50', messages: '"max_tokens":50' },
  },
  temperature: {
    body: { temperature: 0.5 },
    sent: { chat: '"temperature":0.5', messages: '"temperature":0.5' },
  },
  topP: { body: { top_p: 0.5 }, sent: { chat: '"top_p":0.5', messages: '"top_p":0.5' } },
  logprobs: {
    body: { include: ['message.output_text.logprobs'], top_logprobs: 2 },
    path: 'top_logprobs',
  },
  jsonObject: {
    body: { text: { format: { type: 'json_object' } } },
    sent: { chat: '"response_format":{"type":"json_object"}' },
    path: 'text.format',
  },
  jsonSchema: {
    body: { text: { format } },
    sent: {
      chat: '"response_format":{"type":"json_schema","json_schema":{"name":"answer","strict":true,"schema":{',
      messages: '"output_config":{"format":{"type":"json_schema","schema":{',
    },
  },
  schemaBounds: {
    body: {
      text: {
        format: { ...format, schema: { type: 'object', properties: { a: { type: 'integer', minimum: 1 } } } },
      },
    },
    path: 'text.format.schema',
  },
  textDocument: {
    body: said({ type: 'input_file', filename: 'a.txt', file_data: 'data:text/plain;base64,V29yZHMu' }),
    sent: { chat: 'a.txt\\n\\nWords.', messages: '"data":"Words."' },
  },
  schemaDescription: {
    body: { text: { format: { ...format, description: 'An answer.' } } },
    sent: { chat: '"description":"An answer."' },
    path: 'text.format.description',
  },
  reasoningEffort: {
    body: { reasoning: { effort: 'low' } },
    sent: { chat: '"reasoning_effort":"low"', messages: '"effort":"low"' },
  },
  reasoningOff: {
    body: { reasoning: { effort: 'none' } },
    sent: { chat: '"reasoning_effort":"none"', messages: '"thinking":{"type":"disabled"}' },
  },
  reasoningDisplay: { body: { reasoning: { summary: 'auto' } }, path: 'reasoning.summary' },
  verbosity: {
    body: { text: { verbosity: 'low' } },
    sent: { chat: '"verbosity":"low"' },
    path: 'text.verbosity',
  },
  user: { body: { user: 'u1' }, sent: { chat: '"user":"u1"', messages: '"metadata":{"user_id":"u1"}' } },
  metadata: { body: { metadata: { a: 'b' } }, sent: { chat: '"metadata":{"a":"b"}' }, path: 'metadata' },
  store: { body: { store: true }, path: 'store' },
  promptCacheKey: {
    body: { prompt_cache_key: 'k' },
    sent: { chat: '"prompt_cache_key":"k"' },
    path: 'prompt_cache_key',
  },
  serviceTier: {
    body: { service_tier: 'auto' },
    sent: { chat: '"service_tier":"auto"', messages: '"service_tier":"auto"' },
  },
  serverState: { body: { previous_response_id: 'resp_1' }, path: 'previous_response_id' },
  itemReferences: { body: after({ type: 'item_reference', id: 'msg_1' }), path: 'input[1]' },
  promptTemplates: { body: { prompt: { id: 'pmpt_1' } }, path: 'prompt' },
  background: { body: { background: true }, path: 'background' },
  moderation: { body: { moderation: { model: 'omni-moderation' } }, path: 'moderation' },
  otherItems: { body: after({ type: 'computer_call', call_id: 'c' }), path: 'input[1]' },
  unknownMember: { body: { client_metadata: { a: 'b' } }, path: 'client_metadata' },
};
