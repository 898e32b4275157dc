import { DatabaseUnavailable } from '@gatehouse/store';
import type { Context } from '../context/context.ts';
import type { Dependencies } from '../context/dependencies.ts';
import type { Exchange } from '../exchange/exchange.ts';

interface Held {
  readonly organizationId: Context['key']['organizationId'];
  readonly heldMicroPkr: Context['heldMicroPkr'] | undefined;
}

/**
 * Lowers the hold of a recorded request to what it cost, in a statement that goes within a few milliseconds. It is queued
 * when this returns, so before the answer is delivered: the caller's next request is judged after it
 * (credit/admissions.ts). The settlement, which comes later and counts once, remains what spends. Never rejects.
 */
export async function releaseSurplus(
  { organizationId, heldMicroPkr }: Held,
  { id }: Pick<Exchange, 'id'>,
  costMicroPkr: bigint,
  { admissions, log }: Pick<Dependencies, 'admissions' | 'log'>,
): Promise<void> {
  // Undefined where it holds nothing, and where admission was left in doubt because the database was away.
  if (heldMicroPkr === undefined) return;
  try {
    await admissions.finish(organizationId, { requestId: id, costMicroPkr });
  } catch (error) {
    // The settlement will release it.
    if (error instanceof DatabaseUnavailable) return;
    log.warn(
      { event: 'hold.surplus_not_released', request_id: id, err: error },
      'surplus of a hold not released; its settlement will release it',
    );
  }
}
