import { isJsonObject } from '../../wire/json.ts';
import { isTooLong, TOO_LONG_CODE } from '../peculiarities/context-length.ts';
import { readErrorMessage } from '../peculiarities/error-message.ts';
import type { StreamError } from './stream-events.ts';

/** The error of a provider in the middle of a stream. */
export function streamErrorOf(error: unknown): StreamError {
  const message = readErrorMessage(error) ?? UNSAID;
  const { type, code } = isJsonObject(error) ? error : {};
  if (isTooLong(message, code, type)) return { message, kind: TOO_LONG_CODE };
  const kind = [type, code].find((one): one is string => typeof one === 'string' && one !== '');
  return { message, ...(kind !== undefined && { kind }) };
}

const UNSAID = 'The provider ended its answer with an error that it did not explain.';
