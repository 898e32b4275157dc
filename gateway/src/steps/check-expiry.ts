import type { GatewayKey } from '../catalogue/queries.ts';
import { keyExpired } from '../http/gateway-error.ts';

/** 401 when the key's time is over, by the database's clock. */
export function checkExpiry(key: GatewayKey): void {
  if (key.isExpired) throw keyExpired();
}
