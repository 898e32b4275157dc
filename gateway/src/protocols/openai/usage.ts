import { isJsonObject, type JsonObject } from '../json.ts';
import type { Usage } from '../protocol.ts';
import { isTokenCount, serverToolCalls, usageOf } from '../usage-figures.ts';

/**
 * The usage object of a chat completion, a text completion or an embedding, which generates nothing. Undefined where a
 * figure that is priced is no count.
 */
export function readUsage(value: unknown, generates = true): Usage | undefined {
  if (!isJsonObject(value)) return undefined;
  const prompt = detailsOf(value, 'prompt_tokens_details');
  return usageOf({
    prompt: value['prompt_tokens'],
    promptCovers: 'everything',
    completion: value['completion_tokens'] ?? (generates ? undefined : 0),
    total: value['total_tokens'],
    cacheRead: prompt['cached_tokens'],
    cacheWrite: prompt['cache_write_tokens'],
    reasoning: detailsOf(value, 'completion_tokens_details')['reasoning_tokens'],
    calls: serverToolCalls(value['server_tool_use']),
  });
}

/** The usage object of an answer of the Responses API. */
export function readResponsesUsage(value: unknown): Usage | undefined {
  if (!isJsonObject(value)) return undefined;
  const input = detailsOf(value, 'input_tokens_details');
  return usageOf({
    prompt: value['input_tokens'],
    promptCovers: 'everything',
    completion: value['output_tokens'],
    total: value['total_tokens'],
    cacheRead: input['cached_tokens'],
    cacheWrite: input['cache_write_tokens'],
    reasoning: detailsOf(value, 'output_tokens_details')['reasoning_tokens'],
  });
}

/** True if the usage object says that tokens went into reasoning. */
export function hasReasoningTokens(value: unknown): boolean {
  const tokens = isJsonObject(value)
    ? detailsOf(value, 'completion_tokens_details')['reasoning_tokens']
    : undefined;
  return isTokenCount(tokens) && tokens > 0;
}

function detailsOf(usage: JsonObject, name: string): JsonObject {
  const details = usage[name];
  return isJsonObject(details) ? details : {};
}
