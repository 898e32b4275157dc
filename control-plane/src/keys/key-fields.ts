import type { KeyRow } from './queries.ts';

/** The fields of a key that replies contain. Its rate is what the gateway allows: at most the ceiling, which may have been lowered. */
export function keyFields(row: KeyRow, rateLimitCeilingRpm: number) {
  return {
    id: row.id,
    name: row.name,
    project_id: row.projectId,
    key_prefix: row.keyPrefix,
    rate_limit_rpm: Math.min(row.rateLimitRpm, rateLimitCeilingRpm),
    expires_at: row.expiresAt,
    // Exact: the contract limits it to 2^53 - 1.
    credit_limit_cents: row.creditLimitMicroPkr === null ? null : Number(row.creditLimitMicroPkr),
    allowed_models: row.allowedModels,
    environment: row.environment,
  };
}
