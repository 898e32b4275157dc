import type { Context } from '../context/context.ts';
import { keyExpired } from '../errors/gateway-error.ts';

/** 401 when the key's time is over, by the database's clock. */
export function checkExpiry({ key }: Pick<Context, 'key'>): void {
  if (key.isExpired) throw keyExpired();
}
