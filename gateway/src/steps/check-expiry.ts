import { keyExpired } from '../http/gateway-error.ts';
import type { Context } from '../pipeline/context.ts';

/** 401 when the key's time is over, by the database's clock. */
export function checkExpiry({ key }: Pick<Context, 'key'>): void {
  if (key.isExpired) throw keyExpired();
}
