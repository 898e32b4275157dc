// Why a choice ended, in the words of the servers that speak OpenAI's chat.

/** `failed`: the provider broke the answer off. `unknown`: a word that is on no list, so that the answer may not be whole. */
export type Finish = 'stop' | 'length' | 'toolCalls' | 'contentFilter' | 'failed' | 'unknown';

/** The words of each, in lower case and with underscores. OpenAI's own come first. */
const WORDS: Readonly<Record<Exclude<Finish, 'unknown'>, readonly string[]>> = {
  // Together and Cohere say eos and complete; servers that pass another format through say end_turn and stop_sequence.
  stop: [
    'stop',
    'eos',
    'eos_token',
    'end_turn',
    'end',
    'stop_sequence',
    'stop_token',
    'complete',
    'completed',
    'done',
    'finished',
    'normal',
  ],
  // Mistral says model_length, Gemini MAX_TOKENS.
  length: [
    'length',
    'max_tokens',
    'model_length',
    'max_length',
    'max_output_tokens',
    'max_completion_tokens',
    'max_token',
    'token_limit',
    'context_length',
    'context_length_exceeded',
    'model_context_window_exceeded',
    'truncated',
    'incomplete',
    'pause_turn',
  ],
  // Cohere says tool_call, and older servers function_call.
  toolCalls: ['tool_calls', 'tool_call', 'function_call', 'function_calls', 'tool_use'],
  // Gemini's reasons; Zhipu says sensitive.
  contentFilter: [
    'content_filter',
    'content_filtered',
    'safety',
    'recitation',
    'prohibited_content',
    'blocklist',
    'spii',
    'image_safety',
    'sensitive',
    'language',
    'refusal',
    'moderation',
    'guardrail',
    'guardrail_intervened',
    'error_toxic',
    'filtered',
    'blocked',
  ],
  // DeepSeek says insufficient_system_resource, Zhipu network_error, vLLM abort, Gemini malformed_function_call.
  failed: [
    'error',
    'insufficient_system_resource',
    'network_error',
    'abort',
    'aborted',
    'cancelled',
    'canceled',
    'timeout',
    'failed',
    'failure',
    'server_error',
    'internal_error',
    'error_limit',
    'malformed_function_call',
    'unexpected_tool_call',
    'overloaded',
    'interrupted',
    'user_cancel',
  ],
};

const FINISHES: ReadonlyMap<string, Finish> = new Map(
  Object.entries(WORDS).flatMap(([finish, words]) => words.map((word) => [word, finish as Finish] as const)),
);
/** Values that servers send in chunks that end nothing. */
const NONE: ReadonlySet<string> = new Set(['', 'null', 'none', 'undefined', 'finish_reason_unspecified']);

/** The end that a `finish_reason` states, however it is spelled; undefined where it states none. */
export function finishOf(reason: unknown): Finish | undefined {
  if (typeof reason !== 'string') return undefined;
  const word = reason
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_');
  return NONE.has(word) ? undefined : (FINISHES.get(word) ?? 'unknown');
}
