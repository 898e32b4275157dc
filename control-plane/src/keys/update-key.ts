import { badRequest, type KeyId, keys, notFound, type OrganizationId } from '@gatehouse/contract';
import type { Transaction } from '@gatehouse/store';
import { withSession } from '../http/implement.ts';
import type { KeyChanges } from './change-keys.ts';
import { keyFields } from './key-fields.ts';
import { aboveCeiling, aboveHeadroom, belowSpend, notInFuture, notRepresentable } from './messages.ts';
import { keyIdFromText } from './ownership.ts';
import * as queries from './queries.ts';
import { expiryInstant, judgeCreditLimit, spendFloor } from './rules.ts';

/*
 * Replaces rate limit, credit limit and expiry of a key together.
 *
 * `judgeCreditLimit` has the two rules of a credit limit. The limits of the other keys change only under the
 * organisation's lock, which is held here, so a plain SELECT is enough for the headroom. The spend of this key changes
 * whenever the gateway settles one of its requests, which writes the key's row. Therefore the UPDATE checks the spend
 * again: if a settlement got there first, the UPDATE waits for it and then matches no row. The rows of the other keys
 * are not locked, so their requests do not wait.
 */
export function updateKey(changes: KeyChanges, rateLimitCeilingRpm: number) {
  return withSession(
    keys.updateKey,
    async ({ params, body, record }, session) => {
      const { organizationId } = session;
      const keyId = keyIdFromText(params['key_id'] ?? '');
      if (keyId === undefined) throw notFound('Key');
      const { rate_limit_rpm: rateLimitRpm, credit_limit_pkr: creditLimitMicroPkr } = body;

      const key = await changes.inOrganization(organizationId, async (tx) => {
        const found = await tx.one(queries.findChangeable, { keyId, organizationId });
        if (!found) throw notFound('Key');
        if (rateLimitRpm > rateLimitCeilingRpm) throw badRequest(aboveCeiling(rateLimitCeilingRpm));
        const expiresAt = await readExpiry(tx, body.expires_at ?? 0);
        const decision = judgeCreditLimit(creditLimitMicroPkr, found);
        if (decision === 'below_spend') throw badRequest(belowSpend(spendFloor(found)));
        if (decision === 'above_headroom') throw badRequest(aboveHeadroom(found));

        const changed = await tx.one(queries.updateKey, {
          keyId,
          organizationId,
          rateLimitRpm,
          creditLimitMicroPkr,
          expiresAt,
        });
        if (!changed) throw await whyUnchanged(tx, keyId, organizationId);
        await record(tx, 'api_key.updated', changed.keyPrefix);
        return changed;
      });
      const { id, key_prefix, rate_limit_rpm, expires_at, credit_limit_cents } = keyFields(
        key,
        rateLimitCeilingRpm,
      );
      return { body: { id, key_prefix, rate_limit_rpm, expires_at, credit_limit_cents } };
    },
    { holdsPermit: false },
  );
}

async function readExpiry(tx: Transaction, epochSeconds: number): Promise<string | null> {
  if (epochSeconds === 0) return null;
  const instant = expiryInstant(epochSeconds);
  if (instant === undefined) throw badRequest(notRepresentable());
  const judged = await tx.one(queries.isInFuture, { instant });
  if (!judged?.isInFuture) throw badRequest(notInFuture(instant));
  return instant;
}

// Under the organisation's lock nothing can have revoked the key, so its spend has grown.
async function whyUnchanged(tx: Transaction, keyId: KeyId, organizationId: OrganizationId): Promise<Error> {
  const found = await tx.one(queries.findChangeable, { keyId, organizationId });
  return found ? badRequest(belowSpend(spendFloor(found))) : notFound('Key');
}
