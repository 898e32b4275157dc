import type { VaultKeyRow } from './queries.ts';

/** The fields of a stored key that replies contain. */
export function vaultKeyFields(row: VaultKeyRow) {
  return {
    provider: row.provider,
    key_hint: row.keyHint,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  };
}
