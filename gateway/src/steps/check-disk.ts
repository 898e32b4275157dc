import { serviceUnavailable } from '../http/gateway-error.ts';
import type { Journal } from '../journal/journal.ts';
import type { Exchange } from '../pipeline/exchange.ts';

/** 503 while the disk is nearly full: the record of a request that is begun must find room. Recovers by itself. */
export function checkDisk(exchange: Exchange, { hasRoom }: Pick<Journal, 'hasRoom'>): void {
  if (hasRoom) return;
  exchange.remark = 'the disk is nearly full';
  throw serviceUnavailable();
}
