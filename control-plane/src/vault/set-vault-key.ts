import { badRequest, Secret, vault } from '@gatehouse/contract';
import { withSession } from '../http/implement.ts';
import * as queries from './queries.ts';
import { keyHint, providerIssue } from './rules.ts';
import { countWrap, loadCurrentKey, sealSecret, type VaultDependencies } from './seal-secret.ts';
import { vaultKeyFields } from './vault-key-fields.ts';

/** The gateway reads the record for every request, so after the commit every node uses the new key. */
export function setVaultKey(dependencies: VaultDependencies) {
  const { database } = dependencies;
  return withSession(vault.setVaultKey, async ({ body, record, requestId }, session) => {
    const { organizationId } = session;
    const { provider } = body;
    const providerKey = new Secret(body.api_key);
    const issue = providerIssue(provider, await database.many(queries.listProviders));
    if (issue !== undefined) throw badRequest(issue);
    const sealing = { ...dependencies, requestId };
    await loadCurrentKey(sealing);

    const row = await database.transaction(async (tx) => {
      const sealed = await sealSecret(tx, sealing, { organizationId, provider }, providerKey);
      const stored = await tx.one(queries.upsertKey, {
        ...sealed,
        organizationId,
        keyHint: keyHint(providerKey),
      });
      if (!stored) throw new Error('an upsert of one vault key returned no row');
      await countWrap(tx, sealing, { organizationId, masterKeyId: sealed.masterKeyId });
      await record(tx, 'vault_key.set', provider);
      return stored;
    });
    return { body: vaultKeyFields(row) };
  });
}
