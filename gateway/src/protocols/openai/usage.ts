import { MOST_TOKENS } from '../../costs.ts';
import { isJsonObject } from '../json.ts';
import type { Usage } from '../protocol.ts';

/** The usage object of an answer; undefined when it is missing or its figures cannot be. */
export function readUsage(value: unknown): Usage | undefined {
  if (!isJsonObject(value)) return undefined;
  const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = value;
  if (!isTokenCount(promptTokens) || !isTokenCount(completionTokens)) return undefined;
  const details = value['prompt_tokens_details'];
  const cached = isJsonObject(details) ? details['cached_tokens'] : undefined;
  const isKnown = isTokenCount(cached) && cached <= promptTokens;
  return { promptTokens, completionTokens, ...(isKnown && { cacheReadTokens: cached }) };
}

function isTokenCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= MOST_TOKENS;
}

/** What an error body says: OpenAI's form, and those of servers that are nearly OpenAI's. */
export function readErrorMessage(value: unknown): string | undefined {
  if (!isJsonObject(value)) return undefined;
  const { error, message, detail } = value;
  const inner = isJsonObject(error) ? error['message'] : error;
  return [inner, message, detail].find((text): text is string => typeof text === 'string' && text !== '');
}
