import { isStorableText, notFound, vault } from '@gatehouse/contract';
import type { Database } from '@gatehouse/store';
import { record } from '../activity/index.ts';
import { withSession } from '../http/implement.ts';
import * as queries from './queries.ts';

export function revokeVaultKey(database: Database) {
  return withSession(vault.revokeVaultKey, async ({ params, sourceIp }, session) => {
    const { organizationId, userId } = session;
    const provider = params['provider'] ?? '';
    if (!isStorableText(provider)) throw notFound('Vault key');

    await database.transaction(async (tx) => {
      const removed = await tx.one(queries.deleteKey, [organizationId, provider]);
      if (!removed) throw notFound('Vault key');
      await record(tx, {
        organizationId,
        actorUserId: userId,
        action: 'vault_key.revoked',
        target: removed.provider,
        sourceIp,
      });
    });
    return { body: { message: `The key for ${provider} is removed.` } };
  });
}
