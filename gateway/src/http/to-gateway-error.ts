import { DatabaseUnavailable } from '@gatehouse/store';
import type { Logger } from 'pino';
import type { Exchange } from '../pipeline/exchange.ts';
import { GatewayError, internalError, serviceUnavailable } from './gateway-error.ts';

/** The refusal that an error is answered with. What nobody foresaw is logged here, once, and told as a 500. */
export function toGatewayError(error: unknown, exchange: Exchange, log: Logger): GatewayError {
  if (error instanceof GatewayError) return error;
  if (error instanceof DatabaseUnavailable) {
    exchange.remark = 'PostgreSQL cannot be used';
    return serviceUnavailable();
  }
  log.error({ request_id: exchange.id, err: error }, 'a request failed by a mistake of ours');
  return internalError();
}
