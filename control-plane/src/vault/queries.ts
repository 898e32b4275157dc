import { type SealedRecord, statement } from '@gatehouse/store';

/** A stored key without anything of the key but its hint. */
export interface VaultKeyRow {
  readonly provider: string;
  readonly key_hint: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

const SHOWN = 'provider, key_hint, created_at, updated_at';

// Only what asks for a credential has somebody who bills for it. At any other a member's own key would be sent
// nowhere, and the request would go out for the fee at the platform's cost. Guarded by vault.http.test.ts.
export const listProviders = statement<{ name: string; takesKey: boolean }>(
  'vault-list-providers',
  `SELECT name, api_key_env IS NOT NULL AS "takesKey" FROM providers ORDER BY name COLLATE "C"`,
);

/*
 * Which master key is the current may only be changed by somebody who holds this lock alone. Whoever seals holds it
 * with others until the commit, so that once a rotation has made its key the current, no record comes in under the
 * old one any more. The number is any, and used for nothing else.
 */
const CURRENT_LOCK = '7215534110';

// A statement of its own, so that the next one sees what was committed before the lock was given.
export const shareCurrentKey = statement(
  'vault-share-current-key',
  `SELECT pg_advisory_xact_lock_shared(${CURRENT_LOCK})`,
);
export const lockCurrentKey = statement(
  'vault-lock-current-key',
  `SELECT pg_advisory_xact_lock(${CURRENT_LOCK})`,
);

export const findCurrentKey = statement<{ id: string; canary: Buffer }>(
  'vault-find-current-key',
  `SELECT id, canary FROM vault_master_keys WHERE is_current`,
);

export const insertFirstKey = statement(
  'vault-insert-first-key',
  `INSERT INTO vault_master_keys (id, canary, is_current) SELECT $1, $2, true
   WHERE NOT EXISTS (SELECT FROM vault_master_keys)`,
);

export const nextVersion = statement<{ version: bigint }>(
  'vault-next-version',
  `SELECT nextval('vault_versions') AS version`,
);

export const upsertKey = statement<VaultKeyRow>(
  'vault-upsert-key',
  `INSERT INTO vault_keys (organization_id, provider, version, sealed_key, wrapped_key, master_key_id, key_hint)
   VALUES ($1, $2, $3, $4, $5, $6, $7)
   ON CONFLICT (organization_id, provider) DO UPDATE SET
     version = excluded.version,
     sealed_key = excluded.sealed_key,
     wrapped_key = excluded.wrapped_key,
     master_key_id = excluded.master_key_id,
     key_hint = excluded.key_hint,
     updated_at = greatest(clock_timestamp(), vault_keys.updated_at)
   RETURNING ${SHOWN}`,
);

// After the records, here and in a rotation, so that the two never wait for each other in a circle.
export const countWraps = statement<{ wraps: bigint }>(
  'vault-count-wraps',
  `INSERT INTO vault_wraps (organization_id, master_key_id, wraps)
   SELECT organization_id, $2, count(*) FROM unnest($1::uuid[]) AS given (organization_id)
   GROUP BY organization_id ORDER BY organization_id
   ON CONFLICT (organization_id, master_key_id) DO UPDATE SET wraps = vault_wraps.wraps + excluded.wraps
   RETURNING wraps`,
);

export const listKeys = statement<VaultKeyRow>(
  'vault-list-keys',
  `SELECT ${SHOWN} FROM vault_keys WHERE organization_id = $1 ORDER BY provider COLLATE "C"`,
);

export const deleteKey = statement<{ provider: string }>(
  'vault-delete-key',
  `DELETE FROM vault_keys WHERE organization_id = $1 AND provider = $2 RETURNING provider`,
);

// One rotation at a time, for as long as its connection lives.
export const ROTATION_LOCK = `SELECT pg_advisory_lock(7215534111)`;

export const retireCurrentKey = statement(
  'vault-retire-current-key',
  `UPDATE vault_master_keys SET is_current = false WHERE is_current AND id = $1`,
);

// A key that was retired before may come back.
export const makeCurrentKey = statement(
  'vault-make-current-key',
  `INSERT INTO vault_master_keys (id, canary, is_current) VALUES ($1, $2, true)
   ON CONFLICT (id) DO UPDATE SET canary = excluded.canary, is_current = true`,
);

/** Where a rotation has got to. */
export interface Position {
  readonly organizationId: string;
  readonly provider: string;
}

// Ordered, so that a rotation and whatever else locks several records never wait for each other in a circle.
export const lockRecordsBehind = statement<SealedRecord>(
  'vault-lock-records-behind',
  `SELECT organization_id AS "organizationId", provider, version, sealed_key AS "sealedKey",
          wrapped_key AS "wrappedKey", master_key_id AS "masterKeyId"
   FROM vault_keys
   WHERE master_key_id <> $1
     AND ($2::uuid IS NULL OR (organization_id, provider) > ($2::uuid, $3::text))
   ORDER BY organization_id, provider LIMIT $4
   FOR NO KEY UPDATE`,
);

export const listRecords = statement<SealedRecord>(
  'vault-list-records',
  `SELECT organization_id AS "organizationId", provider, version, sealed_key AS "sealedKey",
          wrapped_key AS "wrappedKey", master_key_id AS "masterKeyId"
   FROM vault_keys ORDER BY organization_id, provider`,
);

export const updateWraps = statement(
  'vault-update-wraps',
  `UPDATE vault_keys v SET wrapped_key = given.wrapped_key, master_key_id = $4
   FROM unnest($1::uuid[], $2::text[], $3::bytea[]) AS given (organization_id, provider, wrapped_key)
   WHERE v.organization_id = given.organization_id AND v.provider = given.provider`,
);

export const countBehind = statement<{ behind: bigint; records: bigint }>(
  'vault-count-behind',
  `SELECT count(*) FILTER (WHERE master_key_id <> $1) AS behind, count(*) AS records FROM vault_keys`,
);

export const deleteOldWraps = statement(
  'vault-delete-old-wraps',
  `DELETE FROM vault_wraps WHERE master_key_id <> $1`,
);

export const deleteRetiredKeys = statement<{ id: string }>(
  'vault-delete-retired-keys',
  `DELETE FROM vault_master_keys m WHERE NOT is_current
     AND NOT EXISTS (SELECT FROM vault_keys v WHERE v.master_key_id = m.id)
   RETURNING id`,
);
