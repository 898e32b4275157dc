import { anthropicError } from '../../http/anthropic-error.ts';
import type { Dialect } from '../../http/dialect.ts';
import { isTooComplex, parseJson } from '../answer-json.ts';
import { readErrorMessage } from '../error-message.ts';
import { isJsonObject } from '../json.ts';

const MAX_MESSAGE_LENGTH = 4_096;

// What coding agents look for to shorten a conversation that has become too long: the words of Anthropic, the code of
// OpenAI.
const TOO_LONG_WORDS = 'prompt is too long';
const TOO_LONG_CODE = 'context_length_exceeded';

/** A provider's error body in the envelope of the caller's format, its message kept. */
export function translateError(status: number, body: Buffer, to: Dialect, requestId: string): Buffer {
  const text = body.toString();
  const parsed = isTooComplex(body) ? undefined : parseJson(text);
  // Gemini's OpenAI surface answers a list with one error.
  const value: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
  const error = isJsonObject(value) && isJsonObject(value['error']) ? value['error'] : {};
  const said = readErrorMessage(value) ?? (parsed === undefined ? text.trim() : '');
  const message = said.slice(0, MAX_MESSAGE_LENGTH).toWellFormed() || `The provider answered ${status}.`;
  const isTooLong = error['code'] === TOO_LONG_CODE || message.toLowerCase().includes(TOO_LONG_WORDS);
  if (to === 'anthropic')
    return Buffer.from(anthropicError({ status, message: worded(message, isTooLong) }, requestId));
  return Buffer.from(
    JSON.stringify({
      error: {
        message,
        type: typeof error['type'] === 'string' ? error['type'] : 'upstream_error',
        param: null,
        code: isTooLong ? TOO_LONG_CODE : codeOf(error['code']),
      },
    }),
  );
}

function worded(message: string, isTooLong: boolean): string {
  return isTooLong && !message.toLowerCase().includes(TOO_LONG_WORDS)
    ? `${TOO_LONG_WORDS}: ${message}`
    : message;
}

function codeOf(code: unknown): string | null {
  if (typeof code === 'number') return String(code);
  return typeof code === 'string' ? code : null;
}
