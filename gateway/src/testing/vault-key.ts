import {
  type Database,
  type MasterKey,
  type NoParameters,
  type SealedRecord,
  sealCanary,
  sealRecord,
  sql,
  statement,
} from '@gatehouse/store';
import { TEST_MASTER_KEY } from '@gatehouse/store/testing';

const insertMasterKey = statement<{ id: string; canary: Buffer }>(
  'gateway-test-insert-master-key',
  sql`
    INSERT INTO vault_master_keys (id, canary, is_current)
    VALUES (${'id'}, ${'canary'}, NOT EXISTS (SELECT FROM vault_master_keys)) ON CONFLICT DO NOTHING`,
);
const nextVersion = statement<NoParameters, { version: bigint }>(
  'gateway-test-next-vault-version',
  sql`SELECT nextval('vault_versions') AS version`,
);
const upsertVaultKey = statement<SealedRecord>(
  'gateway-test-upsert-vault-key',
  sql`
    INSERT INTO vault_keys (organization_id, provider, version, sealed_key, wrapped_key, master_key_id)
    VALUES (${'organizationId'}, ${'provider'}, ${'version'}, ${'sealedKey'}, ${'wrappedKey'}, ${'masterKeyId'})
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
  await database.run(insertMasterKey, { id: masterKey.id, canary: sealCanary(masterKey) });
  const row = await database.one(nextVersion);
  const version = row?.version ?? 0n;
  const record = sealRecord(masterKey, { organizationId, provider, version }, providerKey);
  await database.run(upsertVaultKey, record);
}
