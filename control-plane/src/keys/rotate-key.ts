import {
  gatewayKeyPrefix,
  generateGatewayKey,
  hashGatewayKey,
  keys,
  notFound,
  Secret,
} from '@gatehouse/contract';
import { withSession } from '../http/implement.ts';
import type { KeyChanges } from './change-keys.ts';
import { keyIdFromText } from './ownership.ts';
import * as queries from './queries.ts';
import { readRepeatable, rejectRepeat } from './repeats.ts';
import { keepPreviousSecret, replaceSecret } from './rotation/queries.ts';

/**
 * Gives the key a new secret. The one before is accepted until its grace ends, by the clock of the database, which every gateway asks for
 * each request that presents it; the one before that ends at once. `randomBytes(n)` must be cryptographically secure.
 */
export function rotateKey(changes: KeyChanges, randomBytes: (n: number) => Buffer) {
  return withSession(
    keys.rotateKey,
    async ({ params, body, record, header }, { organizationId }) => {
      const keyId = keyIdFromText(params['key_id'] ?? '');
      if (keyId === undefined) throw notFound('Key');
      const repeatable = readRepeatable(organizationId, header('idempotency-key'), { keyId, ...body });
      const secret = new Secret(generateGatewayKey(randomBytes));
      const keyPrefix = gatewayKeyPrefix(secret.reveal());

      const previous = await changes.inOrganization(organizationId, async (tx) => {
        await rejectRepeat(tx, repeatable);
        const key = { keyId, organizationId };
        const kept = await tx.one(keepPreviousSecret, { ...key, graceSeconds: body.grace_seconds });
        if (!kept) throw notFound('Key');
        await tx.run(replaceSecret, {
          ...key,
          keyPrefix,
          secretHash: hashGatewayKey(secret.reveal()),
        });
        if (repeatable) await tx.run(queries.upsertIdempotencyKey, { ...repeatable, keyId });
        await record(tx, 'api_key.rotated', keyPrefix);
        return kept;
      });
      return {
        body: {
          id: keyId,
          key_prefix: keyPrefix,
          api_key: secret.reveal(),
          previous_key_prefix: previous.keyPrefix,
          previous_valid_until: previous.validUntil,
        },
      };
    },
    { holdsPermit: false },
  );
}
