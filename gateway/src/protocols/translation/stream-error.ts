import { isJsonObject } from '../json.ts';
import type { StreamError } from './stream-events.ts';

/** The error of a provider in the middle of a stream. */
export function streamErrorOf(error: unknown): StreamError {
  if (!isJsonObject(error)) {
    return { message: typeof error === 'string' && error !== '' ? error : UNSAID };
  }
  const { message, type, code } = error;
  const kind = [type, code].find((one): one is string => typeof one === 'string' && one !== '');
  return {
    message: typeof message === 'string' && message !== '' ? message : UNSAID,
    ...(kind !== undefined && { kind }),
  };
}

const UNSAID = 'The provider ended its answer with an error that it did not explain.';
