import { keys, notFound, uuidFromText } from '@gatehouse/contract';
import { record } from '../activity/index.ts';
import { withSession } from '../http/implement.ts';
import type { KeyChanges } from './change-keys.ts';
import * as queries from './queries.ts';

/** The gateway reads the key's row for every request, so after the commit no node accepts the key. */
export function revokeKey(changes: KeyChanges) {
  return withSession(
    keys.revokeKey,
    async ({ params, sourceIp }, session) => {
      const { organizationId, userId } = session;
      const keyId = uuidFromText(params['key_id'] ?? '');
      if (keyId === undefined) throw notFound('Key');

      const prefix = await changes.inOrganization(organizationId, async (tx) => {
        const revoked = await tx.one(queries.revokeKey, [keyId, organizationId]);
        if (!revoked) throw notFound('Key');
        await record(tx, {
          organizationId,
          actorUserId: userId,
          action: 'api_key.revoked',
          target: revoked.key_prefix,
          sourceIp,
        });
        return revoked.key_prefix;
      });
      return { body: { message: `The key ${prefix} is revoked.` } };
    },
    { holdsPermit: false },
  );
}
