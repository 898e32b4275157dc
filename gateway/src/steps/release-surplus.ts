import { finishesWithin } from '@gatehouse/concurrency';
import { DatabaseUnavailable } from '@gatehouse/store';
import type { Context } from '../pipeline/context.ts';
import type { Dependencies } from '../pipeline/dependencies.ts';
import type { Exchange } from '../pipeline/exchange.ts';

// How long an answer waits for it. Should the database not answer by then, the settlement releases the hold later.
const TIMEOUT_MS = 1_000;

interface Held {
  readonly organizationId: Context['key']['organizationId'];
  readonly heldMicroPkr: Context['heldMicroPkr'] | undefined;
}

/**
 * Lowers the hold of a recorded request to what it cost, so that the rest is free before the caller can send its next
 * request. The settlement, which comes later and counts once, remains what spends. Never throws.
 */
export async function releaseSurplus(
  { organizationId, heldMicroPkr }: Held,
  exchange: Pick<Exchange, 'id' | 'stopReason'>,
  costMicroPkr: bigint,
  { admissions, clock, log }: Pick<Dependencies, 'admissions' | 'clock' | 'log'>,
): Promise<void> {
  // Undefined where it holds nothing, and where admission was left in doubt because the database was away.
  if (heldMicroPkr === undefined) return;
  const released = admissions
    .finish(organizationId, { requestId: exchange.id, costMicroPkr })
    .catch((error: unknown) => {
      if (error instanceof DatabaseUnavailable) return;
      log.warn(
        { event: 'hold.surplus_not_released', request_id: exchange.id, err: error },
        'surplus of a hold not released; its settlement will release it',
      );
    });
  // A request whose caller left does not wait; the database has its own time limit.
  if (exchange.stopReason === 'caller_gone') return released;
  await finishesWithin(released, TIMEOUT_MS, clock);
}
