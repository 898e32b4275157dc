import { ApiError, unavailable } from '@gatehouse/contract';
import { DatabaseUnavailable } from '@gatehouse/store';
import type { Logger } from 'pino';

/**
 * The one place where an error becomes an answer. What is known by meaning is answered as it says; everything
 * else is a fixed sentence outside and one log line inside, joined by the request id.
 */
export function refusalFor(error: unknown, requestId: string, log: Logger): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof DatabaseUnavailable) {
    log.warn({ request_id: requestId, err: error }, 'the database cannot be used');
    return unavailable('The database cannot be used right now. Try again in a moment.', 1);
  }
  log.error({ request_id: requestId, err: error }, 'unexpected error');
  return new ApiError(500, { error: 'internal error', request_id: requestId });
}
