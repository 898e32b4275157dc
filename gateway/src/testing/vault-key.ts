import { type Database, type MasterKey, sealCanary, sealRecord, statement } from '@gatehouse/store';
import { TEST_MASTER_KEY } from '@gatehouse/store/testing';

const insertMasterKey = statement(
  'test-insert-master-key',
  `INSERT INTO vault_master_keys (id, canary, is_current)
   VALUES ($1, $2, NOT EXISTS (SELECT FROM vault_master_keys)) ON CONFLICT DO NOTHING`,
);
const nextVersion = statement<{ version: bigint }>(
  'test-next-vault-version',
  `SELECT nextval('vault_versions') AS version`,
);
const upsertVaultKey = statement(
  'test-upsert-vault-key',
  `INSERT INTO vault_keys (organization_id, provider, version, sealed_key, wrapped_key, master_key_id)
   VALUES ($1, $2, $3, $4, $5, $6)
   ON CONFLICT (organization_id, provider) DO UPDATE SET version = excluded.version,
     sealed_key = excluded.sealed_key, wrapped_key = excluded.wrapped_key, master_key_id = excluded.master_key_id`,
);

/** Stores an organisation's key for a provider, as the control plane does. */
export async function storeVaultKey(
  database: Database,
  { organizationId }: { readonly organizationId: string },
  provider: string,
  providerKey: string,
  masterKey: MasterKey = TEST_MASTER_KEY,
): Promise<void> {
  await database.run(insertMasterKey, [masterKey.id, sealCanary(masterKey)]);
  const row = await database.one(nextVersion);
  const version = row?.version ?? 0n;
  const record = sealRecord(masterKey, { organizationId, provider, version }, providerKey);
  await database.run(upsertVaultKey, [
    organizationId,
    provider,
    version,
    record.sealedKey,
    record.wrappedKey,
    record.masterKeyId,
  ]);
}
