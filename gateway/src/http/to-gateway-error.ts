import { DatabaseUnavailable } from '@gatehouse/store';
import type { Logger } from 'pino';
import type { Exchange } from '../pipeline/exchange.ts';
import { GatewayError, internalError, serviceUnavailable } from './gateway-error.ts';

/** The answer to an error. An unexpected error is logged here, once, and answered with a 500. */
export function toGatewayError(error: unknown, exchange: Exchange, log: Logger): GatewayError {
  if (error instanceof GatewayError) return error;
  if (error instanceof DatabaseUnavailable) {
    exchange.remark = 'PostgreSQL cannot be used';
    return serviceUnavailable();
  }
  log.error(
    { event: 'request.internal_error', request_id: exchange.id, err: error },
    'internal error while handling a request',
  );
  return internalError();
}
