import type { Dependencies } from '../context/dependencies.ts';
import { serviceUnavailableBecause } from '../errors/gateway-error.ts';
import type { Exchange } from '../exchange/exchange.ts';

/** 503 while the disk is nearly full: the record of a request that is begun must find room. Recovers by itself. */
export function checkDisk(
  _context: object,
  _exchange: Exchange,
  { journal }: Pick<Dependencies, 'journal'>,
): void {
  if (!journal.hasRoom) throw serviceUnavailableBecause('the disk is nearly full');
}
