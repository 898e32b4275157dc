import type { VaultKeyRow } from './queries.ts';

/** The fields of a stored key that a reply may carry. */
export function vaultKeyFields(row: VaultKeyRow) {
  return {
    provider: row.provider,
    key_hint: row.key_hint,
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}
