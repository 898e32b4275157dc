import { isJsonObject } from '../json.ts';
import type { Usage } from '../protocol.ts';

/**
 * The usage object of an answer, as far as its figures are counts; undefined when one of the two that are priced is
 * none. Whether they can be true is for the meter to say. The total is not looked at: it is the sum of the two.
 */
export function readUsage(value: unknown): Usage | undefined {
  if (!isJsonObject(value)) return undefined;
  const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = value;
  if (!isTokenCount(promptTokens) || !isTokenCount(completionTokens)) return undefined;
  const details = value['prompt_tokens_details'];
  const cached = isJsonObject(details) ? details['cached_tokens'] : undefined;
  const isKnown = isTokenCount(cached) && cached <= promptTokens;
  return { promptTokens, completionTokens, ...(isKnown && { cacheReadTokens: cached }) };
}

/** Whether the usage object says that tokens went into reasoning. */
export function hasReasoningTokens(value: unknown): boolean {
  const details = isJsonObject(value) ? value['completion_tokens_details'] : undefined;
  const tokens = isJsonObject(details) ? details['reasoning_tokens'] : undefined;
  return typeof tokens === 'number' && tokens > 0;
}

function isTokenCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** What an error body says: OpenAI's form, and those of servers that are nearly OpenAI's. */
export function readErrorMessage(value: unknown): string | undefined {
  if (!isJsonObject(value)) return undefined;
  const { error, message, detail } = value;
  const inner = isJsonObject(error) ? error['message'] : error;
  return [inner, message, detail].find((text): text is string => typeof text === 'string' && text !== '');
}
