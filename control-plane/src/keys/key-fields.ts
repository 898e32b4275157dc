import type { KeyRow } from './queries.ts';

/** The fields of a key that replies contain. */
export function keyFields(row: KeyRow) {
  return {
    id: row.id,
    name: row.name,
    project_id: row.project_id,
    key_prefix: row.key_prefix,
    rate_limit_rpm: row.rate_limit_rpm,
    expires_at: row.expires_at,
    // Exact: the contract limits it to 2^53 - 1.
    credit_limit_cents: row.credit_limit_micro_pkr === null ? null : Number(row.credit_limit_micro_pkr),
    allowed_models: row.allowed_models,
    environment: row.environment,
  };
}
