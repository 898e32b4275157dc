import { isTooComplex, parseJson } from '../wire/answer-json.ts';
import { REDACTED, type Redaction } from '../wire/redaction.ts';
import { cutToBytes } from '../wire/text.ts';
import { readErrorMessage } from './peculiarities/error-message.ts';

// What is kept of a provider's failure is read by the caller's whole organisation, so it says what happened and
// never where to, nor with which key.

const MAX_BYTES = 1024;
// Far more than is kept, so that no credential is cut in two before it is found.
const LOOKED_AT_CHARACTERS = 64 * 1024;

/** The message of an error answer, bounded and without anything that looks like a credential. */
export function errorOfAnswer(body: Buffer, redaction: Redaction | undefined): string {
  const text = body.toString();
  const value = isTooComplex(body) ? undefined : parseJson(text);
  return errorToKeep(readErrorMessage(value) ?? text.trim(), redaction);
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
