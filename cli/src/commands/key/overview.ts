import { gatewayKeyPrefix, isWellFormedGatewayKey, pkrNumber } from '@gatehouse/contract';
import { findKeyOverviews, type KeyOverview } from '@gatehouse/control-plane/keys';
import type { Database } from '@gatehouse/store';
import { CommandError, UsageError } from '../../terminal/errors.ts';
import { shown } from '../../terminal/output.ts';

/** A key as JSON shows it. */
export function keyDocument(key: KeyOverview) {
  return {
    id: key.id,
    name: key.name,
    key_prefix: key.keyPrefix,
    organization: { id: key.organizationId, name: key.organizationName },
    project: { id: key.projectId, name: key.projectName },
    environment: key.environment,
    rate_limit_rpm: key.rateLimitRpm,
    credit_limit_pkr: key.creditLimitMicroPkr === null ? null : pkrNumber(key.creditLimitMicroPkr),
    spent_pkr: pkrNumber(key.spentMicroPkr),
    held_pkr: pkrNumber(key.heldMicroPkr),
    allowed_models: key.allowedModels,
    expires_at: key.expiresAt,
    created_at: key.createdAt,
    created_by: key.createdBy,
    revoked_at: key.revokedAt,
    previous_key_prefix: key.previousKeyPrefix,
    previous_valid_until: key.previousValidUntil,
    previous_last_used_at: key.previousLastUsedAt,
  };
}

/**
 * The key with this id, or with this prefix. Of several with one prefix, the one that is not revoked. Throws CommandError
 * if that is not one key, and UsageError for a whole secret, which does not belong on a command line.
 */
export async function requireKey(database: Database, reference: string): Promise<KeyOverview> {
  if (isWellFormedGatewayKey(reference)) {
    throw new UsageError(
      `KEY is a whole key, which other users of this machine can now have seen; revoke it by its prefix, ${gatewayKeyPrefix(reference)}`,
    );
  }
  const found = await findKeyOverviews(database, reference);
  const active = found.filter(({ revokedAt }) => revokedAt === null);
  const [key, ...others] = active.length > 0 ? active : found;
  if (!key) {
    throw new CommandError(
      `no key has the id or the prefix ${JSON.stringify(reference)}; gatehouse key list ORG shows those of an organisation`,
    );
  }
  if (others.length > 0) {
    throw new CommandError(
      `several keys have the prefix ${JSON.stringify(reference)}; name one by its id: ${[key, ...others].map(({ id, organizationName }) => `${id} of ${shown(organizationName)}`).join(', ')}`,
    );
  }
  return key;
}
