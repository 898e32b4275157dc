import { type NoParameters, sql, statement } from '@gatehouse/store';
import { tenantStatement } from '../../tenant-statement.ts';
import type { KeyOfOrganization } from '../queries.ts';

// The first statement of a rotation: the secret that the key still has, in place of the one that it had before. No row for a key that is
// revoked or of another organisation.
export const keepPreviousSecret = tenantStatement<
  KeyOfOrganization & { graceSeconds: number },
  { keyPrefix: string; validUntil: string }
>(
  'keys-keep-previous-secret',
  sql`INSERT INTO previous_secrets (key_id, organization_id, secret_hash, key_prefix, valid_until)
      SELECT id, organization_id, secret_hash, key_prefix, clock_timestamp() + ${'graceSeconds'} * interval '1 second'
      FROM api_keys WHERE id = ${'keyId'} AND organization_id = ${'organizationId'} AND revoked_at IS NULL
      ON CONFLICT (key_id) DO UPDATE
        SET secret_hash = excluded.secret_hash, key_prefix = excluded.key_prefix, valid_until = excluded.valid_until,
            last_used_at = NULL
      RETURNING key_prefix, valid_until`,
);

// The prefix is among the facts that gateways presume, so each asks for the key again.
export const replaceSecret = tenantStatement<KeyOfOrganization & { keyPrefix: string; secretHash: Buffer }>(
  'keys-replace-secret',
  sql`UPDATE api_keys SET key_prefix = ${'keyPrefix'}, secret_hash = ${'secretHash'}
      WHERE id = ${'keyId'} AND organization_id = ${'organizationId'} AND revoked_at IS NULL`,
);

export const deleteEndedSecrets = statement<NoParameters>(
  'keys-delete-ended-secrets',
  sql`DELETE FROM previous_secrets WHERE valid_until <= clock_timestamp()`,
);
