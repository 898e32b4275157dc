import { serviceUnavailableBecause } from '../http/gateway-error.ts';
import type { Dependencies } from '../pipeline/dependencies.ts';
import type { Exchange } from '../pipeline/exchange.ts';

/** 503 while the disk is nearly full: the record of a request that is begun must find room. Recovers by itself. */
export function checkDisk(
  _context: object,
  _exchange: Exchange,
  { journal }: Pick<Dependencies, 'journal'>,
): void {
  if (!journal.hasRoom) throw serviceUnavailableBecause('the disk is nearly full');
}
