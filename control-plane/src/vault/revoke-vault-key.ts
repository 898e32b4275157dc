import { isStorableText, notFound, vault } from '@gatehouse/contract';
import type { Database } from '@gatehouse/store';
import { withSession } from '../http/implement.ts';
import * as queries from './queries.ts';

export function revokeVaultKey(database: Database) {
  return withSession(vault.revokeVaultKey, async ({ params, record }, session) => {
    const { organizationId } = session;
    const provider = params['provider'] ?? '';
    if (!isStorableText(provider)) throw notFound('Vault key');

    await database.transaction(async (tx) => {
      const removed = await tx.one(queries.deleteKey, { organizationId, provider });
      if (!removed) throw notFound('Vault key');
      await record(tx, 'vault_key.revoked', removed.provider);
    });
    return { body: { message: `The key for ${provider} is removed.` } };
  });
}
