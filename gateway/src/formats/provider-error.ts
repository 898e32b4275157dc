import { anthropicError } from '../errors/anthropic-error.ts';
import type { Dialect } from '../errors/dialect.ts';
import { isTooComplex, parseJson } from '../wire/answer-json.ts';
import { isJsonObject, type JsonObject } from '../wire/json.ts';
import { REDACTED, type Redaction } from '../wire/redaction.ts';
import { dataOf } from '../wire/sse.ts';
import { cutToBytes } from '../wire/text.ts';
import { inAnthropicsWords, isTooLong, TOO_LONG_CODE } from './peculiarities/context-length.ts';
import { wordsOfFailure } from './peculiarities/error-message.ts';

// What is kept of a provider's failure is read by the caller's whole organisation, so it says what happened and
// never where to, nor with which key.

const MAX_BYTES = 1024;
// Far more than is kept, so that no credential is cut in two before it is found.
const LOOKED_AT_CHARACTERS = 64 * 1024;

/** The message of an error answer, bounded and without anything that looks like a credential. */
export function errorOfAnswer(body: Buffer, redaction: Redaction | undefined): string {
  return errorToKeep(wordsOfFailure(valueIn(body)) ?? body.toString().trim(), redaction);
}

const MAX_EVENTS = 8;

/** The value of an error's body: its JSON, or that of an event, as DashScope refuses a stream. */
export function valueIn(body: Buffer): unknown {
  if (isTooComplex(body)) return undefined;
  const text = body.toString();
  const event = () => text.split(/\r?\n\r?\n/, MAX_EVENTS).find((one) => dataOf(one) !== undefined);
  return parseJson(text) ?? parseJson(dataOf(event() ?? '') ?? '');
}

/** A provider's words, bounded and without anything that looks like a credential. */
export function errorToKeep(message: string, redaction: Redaction | undefined): string {
  // The pattern takes long over long texts; what is cut off here would be cut off below.
  const start = message.slice(0, LOOKED_AT_CHARACTERS);
  return cutToBytes(withoutCredentials(redaction?.text(start) ?? start), MAX_BYTES);
}

// Providers quote the key that they refuse, with its middle starred out or not.
const CREDENTIALS = /\b(?:bearer\s+\S+|(?:sk|pk|rk|gsk|xai|key|api)[-_][\w*.-]{6,})/gi;

function withoutCredentials(text: string): string {
  return text.replace(CREDENTIALS, REDACTED);
}

const MAX_MESSAGE_LENGTH = 4_096;

/** The errors of a dialect: the one in which the provider said it, and the one that its caller reads. */
interface ErrorDialects {
  readonly from: Dialect;
  readonly to: Dialect;
}

/**
 * A provider's error body in the envelope of the caller's format, its message kept. As it came where it is in that envelope, unless it says
 * that the conversation is too long and lacks the code for it.
 */
export function translateError(
  status: number,
  body: Buffer<ArrayBuffer>,
  { from, to }: ErrorDialects,
  requestId: string,
): Buffer<ArrayBuffer> {
  const parsed = valueIn(body);
  // Gemini's OpenAI surface answers a list with one error.
  const value: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
  const { type, code } = errorIn(value);
  const said = wordsOfFailure(value) ?? (parsed === undefined ? body.toString().trim() : '');
  const message = said.slice(0, MAX_MESSAGE_LENGTH).toWellFormed() || `The provider answered ${status}.`;
  const isLong = isTooLong(message, code, type);
  const isEnveloped = from === to && isJsonObject(parsed) && isJsonObject(parsed['error']);
  if (isEnveloped && (!isLong || code === TOO_LONG_CODE)) return body;
  if (to === 'anthropic') {
    const shown = isLong ? inAnthropicsWords(message) : message;
    return Buffer.from(anthropicError({ status, message: shown }, requestId));
  }
  return Buffer.from(
    JSON.stringify({
      error: {
        message,
        type: typeof type === 'string' ? type : 'upstream_error',
        param: null,
        code: isLong ? TOO_LONG_CODE : codeOf(code),
      },
    }),
  );
}

/** The object with the error's type and code: the error's own, or the whole body, as vLLM sends it. */
function errorIn(value: unknown): JsonObject {
  if (!isJsonObject(value)) return {};
  return isJsonObject(value['error']) ? value['error'] : value;
}

function codeOf(code: unknown): string | null {
  if (typeof code === 'number') return String(code);
  return typeof code === 'string' ? code : null;
}
