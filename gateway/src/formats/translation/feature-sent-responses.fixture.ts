import type { Feature } from './feature-table.ts';

// What the samples of chat and of messages become for a provider of responses: by the feature, and by the caller's
// format where it differs.

const strict = '"required":["a"],"additionalProperties":false}';
const image = '{"type":"input_image","image_url":"https://example.com/a.png","detail":"auto"}';
const pdf = '"file_data":"data:application/pdf;base64,AAAA"}';

type Sent = string | { readonly chat: string; readonly messages: string };

export const SENT_TO_RESPONSES: { readonly [Name in Feature]?: Sent } = {
  instructions: '"instructions":"Be kind."',
  laterInstructions: {
    chat: '{"type":"message","role":"developer","content":[{"type":"input_text","text":"Be brief."}]}',
    messages: '{"type":"message","role":"system","content":[{"type":"input_text","text":"Be brief."}]}',
  },
  text: '[{"type":"message","role":"user","content":[{"type":"input_text","text":"Salam"}]}]',
  imageUrl: image,
  imageBase64: '{"type":"input_image","image_url":"data:image/png;base64,AAAA","detail":"auto"}',
  imageDetail: '"detail":"low"',
  pdf: `{"type":"input_file","filename":"a.pdf",${pdf}`,
  textDocument: '{"type":"input_text","text":"A\\n\\nWords."}',
  documentUrl: '{"type":"input_file","file_url":"https://example.com/a.pdf"}',
  refusals: '{"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"I cannot."}]}',
  functions:
    '[{"type":"function","name":"weather","parameters":{"type":"object","properties":{}},"strict":false}]',
  strictFunctions: '"strict":true',
  customTools: '[{"type":"custom","name":"patch"}]',
  toolChoice: {
    chat: '"tool_choice":{"type":"function","name":"weather"}',
    messages: '"tool_choice":"required"',
  },
  allowedTools: '"mode":"required","tools":[{"type":"function","name":"weather"}]',
  parallelToolCalls: '"parallel_tool_calls":false',
  toolCalls: {
    chat: '{"type":"function_call","call_id":"call_2","name":"weather","arguments":"{\\"city\\":\\"Karachi\\"}"}',
    messages:
      '{"type":"function_call","call_id":"toolu_2","name":"weather","arguments":"{\\"city\\":\\"Karachi\\"}"}',
  },
  toolResults: {
    chat: '{"type":"function_call_output","call_id":"call_2","output":"Haze."}',
    messages: '{"type":"function_call_output","call_id":"toolu_1","output":"Dust."}',
  },
  toolResultImages: `"output":[${image}]`,
  toolResultDocuments: `"output":[{"type":"input_file","filename":"document.pdf",${pdf}]`,
  outputCap: '"max_output_tokens":77',
  temperature: '"temperature":0.25',
  topP: '"top_p":0.25',
  jsonObject: '"text":{"format":{"type":"json_object"}}',
  jsonSchema: `${strict},"strict":true}`,
  schemaDescription: '"description":',
  reasoningEffort: '"reasoning":{"effort":"high","summary":"auto"}',
  reasoningBudget: '"reasoning":{"effort":"medium","summary":"auto"}',
  reasoningOff: '"reasoning":{"effort":"none"}',
  verbosity: '"text":{"verbosity":"low"}',
  user: '"user":"u-1"',
  metadata: '"metadata":{"a":"b"}',
  promptCacheKey: '"prompt_cache_key":"k-1"',
  serviceTier: '"service_tier":"default"',
};
