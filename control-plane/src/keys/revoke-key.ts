import { keys, notFound } from '@gatehouse/contract';
import { withSession } from '../http/implement.ts';
import type { KeyChanges } from './change-keys.ts';
import { keyIdFromText } from './ownership.ts';
import * as queries from './queries.ts';

/** The gateway reads the key's row for every request, so after the commit no node accepts the key. */
export function revokeKey(changes: KeyChanges) {
  return withSession(
    keys.revokeKey,
    async ({ params, record }, session) => {
      const { organizationId } = session;
      const keyId = keyIdFromText(params['key_id'] ?? '');
      if (keyId === undefined) throw notFound('Key');

      const prefix = await changes.inOrganization(organizationId, async (tx) => {
        const revoked = await tx.one(queries.revokeKey, { keyId, organizationId });
        if (!revoked) throw notFound('Key');
        await record(tx, 'api_key.revoked', revoked.keyPrefix);
        return revoked.keyPrefix;
      });
      return { body: { message: `The key ${prefix} is revoked.` } };
    },
    { holdsPermit: false },
  );
}
