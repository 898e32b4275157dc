import { isJsonObject } from './json.ts';

/** The message of an error body: OpenAI's form, Anthropic's, and those of servers that are nearly OpenAI's. */
export function readErrorMessage(value: unknown): string | undefined {
  if (!isJsonObject(value)) return undefined;
  const { error, message, detail } = value;
  const inner = isJsonObject(error) ? error['message'] : error;
  return [inner, message, detail].find((text): text is string => typeof text === 'string' && text !== '');
}
