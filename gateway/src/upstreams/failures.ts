import { readErrorMessage } from '../protocols/openai/usage.ts';
import { EventTooLarge } from '../protocols/sse.ts';
import { cutToBytes } from '../text.ts';

// What is kept of a provider's failure is read by the caller's whole organisation, so it says what happened and
// never where to, nor with which key.

const LARGEST_BYTES = 1024;
const REDACTED = '[redacted]';
// Shorter than any provider's key; as a word of the answer it would be taken out wherever it stands.
const SHORTEST_SECRET = 8;

const CAUSES = new Map([
  ['ECONNREFUSED', 'the connection was refused'],
  ['ENOTFOUND', 'the host name is unknown'],
  ['EAI_AGAIN', 'the host name could not be resolved'],
  ['EHOSTUNREACH', 'the host could not be reached'],
  ['ENETUNREACH', 'the network could not be reached'],
  ['ETIMEDOUT', 'the connection timed out'],
  ['ECONNRESET', 'the connection broke'],
  ['EPIPE', 'the connection broke'],
  ['UND_ERR_SOCKET', 'the connection broke'],
  ['UND_ERR_CONNECT_TIMEOUT', 'no connection could be made in time'],
  ['UND_ERR_HEADERS_TIMEOUT', 'timed out'],
  ['UND_ERR_BODY_TIMEOUT', 'timed out'],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'the connection broke'],
  ['UND_ERR_HEADERS_OVERFLOW', 'the answer was not valid HTTP'],
]);

/** What broke, in a few words. */
export function describeFailure(error: Error): string {
  if (error instanceof EventTooLarge) return 'sent an event that is too large';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (code.startsWith('HPE_')) return 'the answer was not valid HTTP';
  return CAUSES.get(code) ?? (code === '' ? 'the request failed' : `the request failed (${code})`);
}

/** What an error answer says, bounded and without anything that looks like a credential. */
export function errorOfAnswer(body: Buffer, apiKey: string | undefined): string {
  const text = body.toString();
  return errorToKeep(readErrorMessage(parsed(text)) ?? text.trim(), apiKey);
}

/** A provider's words, bounded and without anything that looks like a credential. */
export function errorToKeep(message: string, apiKey: string | undefined): string {
  return cutToBytes(withoutCredentials(withoutSecret(message, apiKey)), LARGEST_BYTES);
}

/** The text without the key, should a provider repeat it, as it is or as JSON or an address spells it. */
export function withoutSecret(text: string, apiKey: string | undefined): string {
  return spellingsOf(apiKey).reduce((sofar, spelling) => sofar.replaceAll(spelling, REDACTED), text);
}

function spellingsOf(apiKey: string | undefined): string[] {
  if (!apiKey || apiKey.length < SHORTEST_SECRET) return [];
  return [...new Set([apiKey, JSON.stringify(apiKey).slice(1, -1), encodeURIComponent(apiKey)])];
}

/** The body as it came, unless it repeats the key. */
export function bodyWithoutSecret(body: Buffer, apiKey: string | undefined): Buffer {
  return spellingsOf(apiKey).some((spelling) => body.includes(spelling))
    ? Buffer.from(withoutSecret(body.toString(), apiKey))
    : body;
}

// Providers quote the key that they refuse, with its middle starred out or not.
const CREDENTIALS = /\b(?:bearer\s+\S+|(?:sk|pk|rk|gsk|xai|key|api)[-_][\w*.-]{6,})/gi;

function withoutCredentials(text: string): string {
  return text.replace(CREDENTIALS, REDACTED);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
