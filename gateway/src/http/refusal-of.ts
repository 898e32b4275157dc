import { DatabaseUnavailable } from '@gatehouse/store';
import type { Logger } from 'pino';
import type { Exchange } from '../pipeline/exchange.ts';
import { internalError, Refusal, serviceUnavailable } from './refusal.ts';

/** The refusal that an error is answered with. What nobody foresaw is logged here, once, and told as a 500. */
export function refusalOf(error: unknown, exchange: Exchange, log: Logger): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof DatabaseUnavailable) {
    exchange.remark = 'PostgreSQL cannot be used';
    return serviceUnavailable();
  }
  log.error({ request_id: exchange.id, err: error }, 'a request failed by a mistake of ours');
  return internalError();
}
