import type { OrganizationId } from '@gatehouse/contract';
import { type NoParameters, type SealedRecord, sql, statement } from '@gatehouse/store';
import { tenantStatement } from '../tenant-statement.ts';

/** A stored key. Of the key itself, only its hint. */
export interface VaultKeyRow {
  readonly provider: string;
  readonly keyHint: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

const SHOWN = sql`provider, key_hint, created_at, updated_at`;

// A provider takes a member's key only if it needs a credential at all. For any other, the member's key would be sent
// nowhere and the request charged the BYOK fee at the platform's cost. Guarded by vault.http.test.ts.
export const listProviders = statement<NoParameters, { name: string; takesKey: boolean }>(
  'vault-list-providers',
  sql`SELECT name, EXISTS (SELECT FROM provider_credentials c WHERE c.provider = p.name) AS takes_key
      FROM providers p ORDER BY name COLLATE "C"`,
);

/*
 * Guards which master key is the current one. A rotation takes it exclusively to change that; sealing a record shares it
 * until the commit. So once a rotation has made its key current, no further record is sealed under the old one. The
 * number is arbitrary and used for nothing else.
 */
const CURRENT_LOCK = 7215534110n;

// Separate from the next statement, which then sees everything committed before the lock was granted.
export const shareCurrentKey = statement<NoParameters>(
  'vault-share-current-key',
  sql`SELECT pg_advisory_xact_lock_shared(${CURRENT_LOCK})`,
);
export const lockCurrentKey = statement<NoParameters>(
  'vault-lock-current-key',
  sql`SELECT pg_advisory_xact_lock(${CURRENT_LOCK})`,
);

export const findCurrentKey = statement<NoParameters, { id: string; canary: Buffer }>(
  'vault-find-current-key',
  sql`SELECT id, canary FROM vault_master_keys WHERE is_current`,
);

export const insertFirstKey = statement<{ id: string; canary: Buffer }>(
  'vault-insert-first-key',
  sql`INSERT INTO vault_master_keys (id, canary, is_current) SELECT ${'id'}, ${'canary'}, true
      WHERE NOT EXISTS (SELECT FROM vault_master_keys)`,
);

export const nextVersion = statement<NoParameters, { version: bigint }>(
  'vault-next-version',
  sql`SELECT nextval('vault_versions') AS version`,
);

/** A record as it is stored, without what the database adds. */
export interface RecordValues {
  readonly organizationId: OrganizationId;
  readonly provider: string;
  readonly version: bigint;
  readonly sealedKey: Buffer;
  readonly wrappedKey: Buffer;
  readonly masterKeyId: string;
  readonly keyHint: string | null;
}

export const upsertKey = tenantStatement<RecordValues, VaultKeyRow>(
  'vault-upsert-key',
  sql`INSERT INTO vault_keys (organization_id, provider, version, sealed_key, wrapped_key, master_key_id, key_hint,
                              created_at, updated_at)
      SELECT ${'organizationId'}, ${'provider'}, ${'version'}, ${'sealedKey'}, ${'wrappedKey'}, ${'masterKeyId'},
             ${'keyHint'}, now.at, now.at
      FROM (SELECT clock_timestamp() AS at) AS now
      ON CONFLICT (organization_id, provider) DO UPDATE SET
        version = excluded.version,
        sealed_key = excluded.sealed_key,
        wrapped_key = excluded.wrapped_key,
        master_key_id = excluded.master_key_id,
        key_hint = excluded.key_hint,
        updated_at = greatest(clock_timestamp(), vault_keys.updated_at)
      RETURNING ${SHOWN}`,
);

// After the records, here and in a rotation, so that the two cannot deadlock.
export const countWraps = statement<
  { organizationIds: readonly OrganizationId[]; masterKeyId: string },
  { wraps: bigint }
>(
  'vault-count-wraps',
  sql`INSERT INTO vault_wraps (organization_id, master_key_id, wraps)
      SELECT organization_id, ${'masterKeyId'}, count(*)
      FROM unnest(${'organizationIds'}::uuid[]) AS given (organization_id)
      GROUP BY organization_id ORDER BY organization_id
      ON CONFLICT (organization_id, master_key_id) DO UPDATE SET wraps = vault_wraps.wraps + excluded.wraps
      RETURNING wraps`,
);

export const listKeys = tenantStatement<{ organizationId: OrganizationId }, VaultKeyRow>(
  'vault-list-keys',
  sql`SELECT ${SHOWN} FROM vault_keys WHERE organization_id = ${'organizationId'} ORDER BY provider COLLATE "C"`,
);

export const deleteKey = tenantStatement<
  { organizationId: OrganizationId; provider: string },
  { provider: string }
>(
  'vault-delete-key',
  sql`DELETE FROM vault_keys WHERE organization_id = ${'organizationId'} AND provider = ${'provider'}
      RETURNING provider`,
);

// One rotation at a time, for as long as its connection lives.
export const ROTATION_LOCK = `SELECT pg_advisory_lock(7215534111)`;

export const retireCurrentKey = statement<{ id: string }>(
  'vault-retire-current-key',
  sql`UPDATE vault_master_keys SET is_current = false WHERE is_current AND id = ${'id'}`,
);

// A key that was retired may become current again.
export const makeCurrentKey = statement<{ id: string; canary: Buffer }>(
  'vault-make-current-key',
  sql`INSERT INTO vault_master_keys (id, canary, is_current) VALUES (${'id'}, ${'canary'}, true)
      ON CONFLICT (id) DO UPDATE SET canary = excluded.canary, is_current = true`,
);

export interface RecordRow extends SealedRecord {
  readonly organizationId: OrganizationId;
}

/** How far a rotation has got: the last record it has handled. */
export type RotationCursor = Pick<RecordRow, 'organizationId' | 'provider'>;

/*
 * A record is a key of a provider, or the secret of a webhook: the record of a provider whose name no catalogue can have.
 */
const KEY_RECORD = sql`organization_id, provider, version, sealed_key, wrapped_key, master_key_id`;
const CHANNEL_PROVIDER = sql`'alert channel ' || id`;
// Null for e-mail, which has no secret and is left out.
const CHANNEL_RECORD = sql`organization_id, coalesce(${CHANNEL_PROVIDER}, '') AS provider, coalesce(version, 0) AS version,
  coalesce(sealed_key, '') AS sealed_key, coalesce(wrapped_key, '') AS wrapped_key, coalesce(master_key_id, '') AS master_key_id`;

/** The name in the place of a provider’s that the secret of a webhook is sealed for. */
export const channelProvider = (channelId: string) => `alert channel ${channelId}`;

interface RecordsBehind {
  readonly masterKeyId: string;
  readonly afterOrganizationId: OrganizationId | null;
  readonly afterProvider: string | null;
  readonly limit: number;
}

/** Lists of the same length: one record an index. */
export interface Rewraps {
  readonly organizationIds: readonly OrganizationId[];
  readonly providers: readonly string[];
  readonly wrappedKeys: readonly Buffer[];
  readonly masterKeyId: string;
}

// Ordered, so that transactions that lock several records cannot deadlock.
export const lockKeysBehind = statement<RecordsBehind, RecordRow>(
  'vault-lock-keys-behind',
  sql`SELECT ${KEY_RECORD} FROM vault_keys
  WHERE master_key_id <> ${'masterKeyId'}
    AND (${'afterOrganizationId'}::uuid IS NULL
         OR (organization_id, provider) > (${'afterOrganizationId'}::uuid, ${'afterProvider'}::text))
  ORDER BY organization_id, provider LIMIT ${'limit'}
  FOR NO KEY UPDATE`,
);

export const updateKeyWraps = statement<Rewraps>(
  'vault-update-key-wraps',
  sql`UPDATE vault_keys v SET wrapped_key = given.wrapped_key, master_key_id = ${'masterKeyId'}
  FROM unnest(${'organizationIds'}::uuid[], ${'providers'}::text[], ${'wrappedKeys'}::bytea[])
    AS given (organization_id, provider, wrapped_key)
  WHERE v.organization_id = given.organization_id AND v.provider = given.provider`,
);

export const lockChannelsBehind = statement<RecordsBehind, RecordRow>(
  'vault-lock-channels-behind',
  sql`SELECT ${CHANNEL_RECORD} FROM alert_channels
  WHERE master_key_id <> ${'masterKeyId'}
    AND (${'afterOrganizationId'}::uuid IS NULL
         OR (organization_id, ${CHANNEL_PROVIDER}) > (${'afterOrganizationId'}::uuid, ${'afterProvider'}::text))
  ORDER BY organization_id, ${CHANNEL_PROVIDER} LIMIT ${'limit'}
  FOR NO KEY UPDATE`,
);

export const updateChannelWraps = statement<Rewraps>(
  'vault-update-channel-wraps',
  sql`UPDATE alert_channels v SET wrapped_key = given.wrapped_key, master_key_id = ${'masterKeyId'}
  FROM unnest(${'organizationIds'}::uuid[], ${'providers'}::text[], ${'wrappedKeys'}::bytea[])
    AS given (organization_id, provider, wrapped_key)
  WHERE v.organization_id = given.organization_id AND ${CHANNEL_PROVIDER} = given.provider`,
);

/** The tables of records, as a rotation goes through them. */
export const RECORD_TABLES = [
  { lockBehind: lockKeysBehind, updateWraps: updateKeyWraps },
  { lockBehind: lockChannelsBehind, updateWraps: updateChannelWraps },
];

export const listRecords = statement<NoParameters, RecordRow>(
  'vault-list-records',
  sql`SELECT coalesce(organization_id, '00000000-0000-0000-0000-000000000000') AS organization_id, coalesce(provider, '') AS provider,
             coalesce(version, 0) AS version, coalesce(sealed_key, '') AS sealed_key, coalesce(wrapped_key, '') AS wrapped_key,
             coalesce(master_key_id, '') AS master_key_id
      FROM (
        SELECT ${KEY_RECORD} FROM vault_keys
        UNION ALL
        SELECT ${CHANNEL_RECORD} FROM alert_channels WHERE master_key_id IS NOT NULL
      ) AS records ORDER BY organization_id, provider`,
);

export const countBehind = statement<{ masterKeyId: string }, { behind: bigint; records: bigint }>(
  'vault-count-behind',
  sql`SELECT count(*) FILTER (WHERE master_key_id <> ${'masterKeyId'}) AS behind, count(*) AS records
      FROM (
        SELECT master_key_id FROM vault_keys
        UNION ALL
        SELECT master_key_id FROM alert_channels WHERE master_key_id IS NOT NULL
      ) AS records`,
);

export const deleteOldWraps = statement<{ masterKeyId: string }>(
  'vault-delete-old-wraps',
  sql`DELETE FROM vault_wraps WHERE master_key_id <> ${'masterKeyId'}`,
);

export const deleteRetiredKeys = statement<NoParameters, { id: string }>(
  'vault-delete-retired-keys',
  sql`DELETE FROM vault_master_keys m WHERE NOT is_current
        AND NOT EXISTS (SELECT FROM vault_keys v WHERE v.master_key_id = m.id)
        AND NOT EXISTS (SELECT FROM alert_channels c WHERE c.master_key_id = m.id)
      RETURNING id`,
);
