import type { KeyRow } from './queries.ts';
import type { LastUses } from './telemetry.ts';

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

/** The fields of a key in a list: with when it was minted, and used last. */
export function listedKeyFields(row: KeyRow, rateLimitCeilingRpm: number, lastUses: LastUses) {
  return {
    ...keyFields(row, rateLimitCeilingRpm),
    created_at: row.createdAt,
    last_used_at: lastUses.get(row.id) ?? null,
  };
}
