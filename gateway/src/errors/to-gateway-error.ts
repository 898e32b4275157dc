import type { RequestId } from '@gatehouse/contract';
import { DatabaseUnavailable } from '@gatehouse/store';
import type { Logger } from 'pino';
import { GatewayError, internalError, serviceUnavailableBecause } from './gateway-error.ts';

/** The answer to an error. An unexpected error is logged here, once, and answered with a 500. */
export function toGatewayError(
  error: unknown,
  { id }: { readonly id: RequestId },
  log: Logger,
): GatewayError {
  if (error instanceof GatewayError) return error;
  if (error instanceof DatabaseUnavailable) return serviceUnavailableBecause('PostgreSQL cannot be used');
  log.error(
    { event: 'request.internal_error', request_id: id, err: error },
    'internal error while handling a request',
  );
  return internalError();
}
