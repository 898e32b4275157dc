import type { TranslatedFormat } from './feature-table.ts';
import type { Feature } from './features.ts';

// The name of a feature in the caller's format, by which it is disclosed and refused. A feature that is lost where it
// is read has its exact path; these are for what only the writer finds out.

const PATHS: { readonly [Name in Feature]?: string | { readonly [In in TranslatedFormat]?: string } } = {
  imageDetail: { chat: 'image_url.detail', responses: 'input_image.detail' },
  documentUrl: { messages: 'document.source', responses: 'input_file.file_url' },
  documentContext: 'document.context',
  pdf: { chat: 'file', messages: 'document', responses: 'input_file' },
  textDocument: { messages: 'document', responses: 'input_file' },
  reasoningText: { chat: 'reasoning_content', messages: 'thinking', responses: 'reasoning' },
  reasoningSeal: { chat: 'reasoning_details', messages: 'thinking', responses: 'reasoning' },
  forcedHostedTool: 'tool_choice',
  allowedTools: 'tool_choice',
  parallelToolCalls: {
    chat: 'parallel_tool_calls',
    messages: 'tool_choice',
    responses: 'parallel_tool_calls',
  },
  toolResultImages: {
    chat: 'tool',
    messages: 'tool_result.image',
    responses: 'function_call_output.input_image',
  },
  toolResultDocuments: { messages: 'tool_result.document', responses: 'function_call_output.input_file' },
  toolResultErrors: 'tool_result.is_error',
  stop: { chat: 'stop', messages: 'stop_sequences' },
  blankStop: { chat: 'stop', messages: 'stop_sequences' },
  temperature: 'temperature',
  topP: 'top_p',
  topK: 'top_k',
  seed: 'seed',
  logitBias: 'logit_bias',
  logprobs: { chat: 'logprobs', responses: 'top_logprobs' },
  choices: 'n',
  jsonObject: { chat: 'response_format', responses: 'text.format' },
  jsonSchema: { chat: 'response_format', messages: 'output_config.format', responses: 'text.format' },
  schemaBounds: { chat: 'response_format.json_schema.schema', responses: 'text.format.schema' },
  schemaDescription: {
    chat: 'response_format.json_schema.description',
    responses: 'text.format.description',
  },
  reasoningEffort: {
    chat: 'reasoning_effort',
    messages: 'output_config.effort',
    responses: 'reasoning.effort',
  },
  reasoningBudget: { messages: 'thinking.budget_tokens' },
  reasoningDisplay: { messages: 'thinking.display', responses: 'reasoning.summary' },
  reasoningOff: { chat: 'reasoning_effort', messages: 'thinking', responses: 'reasoning.effort' },
  verbosity: { chat: 'verbosity', responses: 'text.verbosity' },
  cacheControl: 'cache_control',
  user: { chat: 'user', messages: 'metadata.user_id', responses: 'user' },
  metadata: 'metadata',
  store: 'store',
  promptCacheKey: 'prompt_cache_key',
  serviceTier: 'service_tier',
};

/** The feature's name in this format; its key where it has none of its own. */
export function pathOf(feature: Feature, format: TranslatedFormat): string {
  const path = PATHS[feature];
  return (typeof path === 'object' ? path[format] : path) ?? feature;
}
