// Why a choice ended, in the words of the servers that speak OpenAI's chat.

/** `failed`: the provider broke the answer off. `unknown`: a word that is on no list, so that the answer may not be whole. */
export type Finish = 'stop' | 'length' | 'toolCalls' | 'contentFilter' | 'failed' | 'unknown';

/** The words for each end and who says them, in lower case and with underscores. */
const WORDS: readonly (readonly [finish: Exclude<Finish, 'unknown'>, source: string, words: string])[] = [
  ['stop', 'OpenAI', 'stop'],
  ['stop', 'Together', 'eos'],
  ['stop', 'Cohere', 'complete'],
  ['stop', 'Anthropic, as servers pass it through', 'end_turn stop_sequence'],
  ['stop', 'other servers', 'eos_token end stop_token completed done finished normal'],
  ['length', 'OpenAI', 'length max_output_tokens incomplete'],
  ['length', 'Gemini', 'max_tokens'],
  ['length', 'Mistral', 'model_length'],
  ['length', 'Anthropic, as servers pass it through', 'model_context_window_exceeded pause_turn'],
  ['length', 'other servers', 'max_length max_token max_completion_tokens token_limit truncated'],
  ['length', 'other servers', 'context_length context_length_exceeded'],
  ['toolCalls', 'OpenAI', 'tool_calls function_call'],
  ['toolCalls', 'Cohere', 'tool_call'],
  ['toolCalls', 'Anthropic, as servers pass it through', 'tool_use'],
  ['toolCalls', 'other servers', 'function_calls'],
  ['contentFilter', 'OpenAI', 'content_filter'],
  ['contentFilter', 'Gemini', 'safety recitation prohibited_content blocklist spii image_safety language'],
  ['contentFilter', 'Gemini', 'image_prohibited_content image_recitation model_armor'],
  ['contentFilter', 'Zhipu', 'sensitive'],
  ['contentFilter', 'Anthropic, as servers pass it through', 'refusal'],
  ['contentFilter', 'Cohere', 'error_toxic'],
  ['contentFilter', 'Bedrock', 'guardrail_intervened content_filtered'],
  ['contentFilter', 'other servers', 'moderation guardrail filtered blocked'],
  ['failed', 'OpenRouter', 'error'],
  ['failed', 'DeepSeek', 'insufficient_system_resource'],
  ['failed', 'Zhipu', 'network_error'],
  ['failed', 'vLLM', 'abort'],
  ['failed', 'Gemini', 'malformed_function_call unexpected_tool_call malformed_response'],
  ['failed', 'Gemini', 'too_many_tool_calls missing_thought_signature'],
  ['failed', 'Cohere', 'error_limit user_cancel'],
  [
    'failed',
    'other servers',
    'aborted cancelled canceled timeout failed failure server_error internal_error',
  ],
  ['failed', 'other servers', 'overloaded interrupted'],
];

const FINISHES: ReadonlyMap<string, Finish> = new Map(
  WORDS.flatMap(([finish, , words]) => words.split(' ').map((word) => [word, finish] as const)),
);
/** Values that servers send in chunks that end nothing. */
const NONE: ReadonlySet<string> = new Set(['', 'null', 'none', 'undefined', 'unspecified']);

/** The name of an enumeration, which some servers write before its value: `FinishReason.STOP`. */
const ENUMERATION = /^finish_?reason[._]/;
/** The error of an answer that its provider aborted without saying why. */
export const ABORTED = 'the provider ended the answer with an error';

/** The end that a `finish_reason` states, however it is spelled; undefined where it states none. */
export function finishOf(reason: unknown): Finish | undefined {
  if (typeof reason !== 'string') return undefined;
  const word = reason
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_')
    .replace(ENUMERATION, '');
  return NONE.has(word) ? undefined : (FINISHES.get(word) ?? 'unknown');
}
