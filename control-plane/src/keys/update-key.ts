import { badRequest, keys, notFound, uuidFromText } from '@gatehouse/contract';
import type { Transaction } from '@gatehouse/store';
import { record } from '../activity/index.ts';
import { withSession } from '../http/implement.ts';
import type { KeyChanges } from './change-keys.ts';
import * as queries from './queries.ts';
import {
  aboveCeiling,
  aboveHeadroom,
  belowSpend,
  expiryInstant,
  keyFields,
  notInFuture,
  notRepresentable,
} from './rules.ts';

/*
 * The rate, the credit and the expiry of a key are replaced as one.
 *
 * Two rules bound a new credit limit. It cannot be below what the key has spent, and together with the limits of the
 * organisation's other keys it cannot pass what was deposited. What the others may spend changes only under the
 * organisation's lock, which is held here, so a plain look is enough. What this key has spent can change at any moment,
 * when the gateway settles a request; that writes the key's row. So the row itself is asked once more by the UPDATE:
 * where a settlement was faster, the UPDATE waits for it and then finds a row that it may not change. Nothing else waits
 * longer than this: the rows of the other keys are not locked, and their requests go on.
 *
 * What requests in flight hold does not count as spent: a limit can be drawn right up to the spend, to stop a key.
 */
export function updateKey(changes: KeyChanges, rateLimitCeilingRpm: number) {
  return withSession(
    keys.updateKey,
    async ({ params, body, sourceIp }, session) => {
      const { organizationId, userId } = session;
      const keyId = uuidFromText(params['key_id'] ?? '');
      if (keyId === undefined) throw notFound('Key');
      const { rate_limit_rpm: rateLimitRpm, credit_limit_pkr: creditLimitMicroPkr } = body;

      const key = await changes.inOrganization(organizationId, async (tx) => {
        const found = await tx.one(queries.findChangeable, [keyId, organizationId]);
        if (!found) throw notFound('Key');
        if (rateLimitRpm > rateLimitCeilingRpm) throw badRequest(aboveCeiling(rateLimitCeilingRpm));
        const expiresAt = await readExpiry(tx, body.expires_at ?? 0);
        if (creditLimitMicroPkr !== null) {
          if (creditLimitMicroPkr < found.spent_micro_pkr)
            throw badRequest(belowSpend(found.spent_micro_pkr));
          const budgetMicroPkr = found.deposited_micro_pkr;
          const othersMicroPkr = found.others_micro_pkr;
          if (creditLimitMicroPkr + othersMicroPkr > budgetMicroPkr)
            throw badRequest(aboveHeadroom({ budgetMicroPkr, othersMicroPkr }));
        }

        const changed = await tx.one(queries.updateKey, [
          keyId,
          organizationId,
          rateLimitRpm,
          creditLimitMicroPkr,
          expiresAt,
        ]);
        if (!changed) throw await whyUnchanged(tx, keyId, organizationId);
        await record(tx, {
          organizationId,
          actorUserId: userId,
          action: 'api_key.updated',
          target: changed.key_prefix,
          sourceIp,
        });
        return changed;
      });
      const { id, key_prefix, rate_limit_rpm, expires_at, credit_limit_cents } = keyFields(key);
      return { body: { id, key_prefix, rate_limit_rpm, expires_at, credit_limit_cents } };
    },
    { holdsPermit: false },
  );
}

async function readExpiry(tx: Transaction, epochSeconds: number): Promise<string | null> {
  if (epochSeconds === 0) return null;
  const instant = expiryInstant(epochSeconds);
  if (instant === undefined) throw badRequest(notRepresentable());
  const judged = await tx.one(queries.isInFuture, [instant]);
  if (!judged?.is_in_future) throw badRequest(notInFuture(instant));
  return instant;
}

// The organisation's lock keeps the key from being revoked meanwhile, so it is the spend that has grown.
async function whyUnchanged(tx: Transaction, keyId: string, organizationId: string): Promise<Error> {
  const found = await tx.one(queries.findChangeable, [keyId, organizationId]);
  return found ? badRequest(belowSpend(found.spent_micro_pkr)) : notFound('Key');
}
