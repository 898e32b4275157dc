import { pkrNumber } from '@gatehouse/contract';
import type { Context } from '../context/context.ts';
import type { Dependencies } from '../context/dependencies.ts';
import { invalidApiKey } from '../errors/gateway-error.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { waitForPermit } from '../exchange/permits.ts';
import { jsonOutcome } from './json-outcome.ts';
import { findKeyStanding, type KeyLimitRow, listKeyLimits } from './queries.ts';

/** `GET /v1/key`: the key's own limits. The organisation's balance is not shown to a key. */
export async function showKey(
  { key }: Pick<Context, 'key'>,
  exchange: Exchange,
  { admissions, database, permits: { routes } }: Pick<Dependencies, 'admissions' | 'database' | 'permits'>,
): Promise<Pick<Context, 'outcome'>> {
  const { id, organizationId, prefix, rateLimitRpm, allowedModels } = key;
  // The caller's requests that have finished are spent, and hold nothing.
  await admissions.flush(organizationId);
  using _ = routes.tryAcquire(organizationId) ?? (await waitForPermit(exchange, routes, organizationId));
  const [standing, limits] = [await findKeyStanding(database, id), await listKeyLimits(database, id)];
  // It was revoked a moment ago.
  if (!standing) throw invalidApiKey();
  const { expiresAt, limitMicroPkr, spentMicroPkr, heldMicroPkr } = standing;
  const remaining = limitMicroPkr === null ? null : limitMicroPkr - spentMicroPkr - heldMicroPkr;
  return jsonOutcome({
    key_prefix: prefix,
    rate_limit_rpm: rateLimitRpm,
    expires_at: expiresAt,
    allowed_models: allowedModels,
    credit_limit_pkr: limitMicroPkr === null ? null : pkrNumber(limitMicroPkr),
    spent_pkr: pkrNumber(spentMicroPkr),
    held_pkr: pkrNumber(heldMicroPkr),
    remaining_pkr: remaining === null ? null : remainingPkr(remaining),
    spend_limits: limits.map(spendLimit),
  });
}

function spendLimit(row: KeyLimitRow) {
  const { scopeKind: kind, scopeId, limitMicroPkr, spentMicroPkr, heldMicroPkr } = row;
  return {
    id: row.id,
    scope: scopeId === null ? { kind } : { kind, id: scopeId },
    window: row.timeWindow,
    limit_pkr: pkrNumber(limitMicroPkr),
    spent_pkr: pkrNumber(spentMicroPkr),
    held_pkr: pkrNumber(heldMicroPkr),
    remaining_pkr: remainingPkr(limitMicroPkr - spentMicroPkr - heldMicroPkr),
    window_ends_at: row.endsAt,
  };
}

// A provider can bill more than was held, so more can be spent than the limit.
function remainingPkr(microPkr: bigint): number {
  return pkrNumber(microPkr > 0n ? microPkr : 0n);
}
