import { isJsonObject, type JsonObject } from '../../wire/json.ts';
import { parseBounded, writeBounded } from './bounded-json.ts';

// Chat and responses hold a tool's arguments as the text that the model wrote, which may be no JSON at all; messages
// holds them as an object. So: no text is an empty object; an object is itself; anything else becomes the one member
// `invalid_arguments` with the text as it came, so that the tool's schema refuses it and the model reads why.

export const INVALID_ARGUMENTS = 'invalid_arguments';

/** The object that the arguments of a call are in messages. */
export function inputOfText(text: string): JsonObject {
  if (text.trim() === '') return {};
  const value = parseBounded(text);
  return isJsonObject(value) ? value : { [INVALID_ARGUMENTS]: text };
}

/**
 * The arguments of a call, or a piece of them, as a provider wrote them. Some give the object itself in place of its text; an empty one
 * says nothing yet.
 */
export function argumentsText(value: unknown): string {
  if (typeof value === 'string') return value;
  const isEmpty =
    value === undefined || value === null || (isJsonObject(value) && Object.keys(value).length === 0);
  return isEmpty ? '' : (writeBounded(value) ?? '');
}

/** The arguments of a function as clients and providers parse them: an object without members where the model wrote nothing. */
export function filledArguments(text: string): string {
  return text.trim() === '' ? '{}' : text;
}

/** The text that the input of a call in messages is in chat and responses. */
export function textOfInput(input: unknown): string {
  if (typeof input === 'string') return filledArguments(input);
  if (!isJsonObject(input)) return '{}';
  const invalid = input[INVALID_ARGUMENTS];
  if (Object.keys(input).length === 1 && typeof invalid === 'string') return invalid;
  return writeBounded(input) ?? '{}';
}
