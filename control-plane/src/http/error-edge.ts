import { ApiError, unavailable } from '@gatehouse/contract';
import { DatabaseUnavailable } from '@gatehouse/store';
import type { Logger } from 'pino';

/**
 * The one place where an error becomes an answer. An `ApiError` is answered as it says. Any other error is a fixed
 * sentence in the answer and one line in the log, with the same request id.
 */
export function apiErrorFor(error: unknown, requestId: string, log: Logger): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof DatabaseUnavailable) {
    log.warn(
      { event: 'http.database_unavailable', request_id: requestId, err: error },
      'database unavailable',
    );
    return databaseUnavailable;
  }
  log.error(
    { event: 'http.request_failed', request_id: requestId, err: error },
    'internal error while handling a request',
  );
  return new ApiError(500, { error: 'internal error', request_id: requestId });
}

const databaseUnavailable = unavailable('The database cannot be used right now. Try again in a moment.', 1);
