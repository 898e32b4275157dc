import {
  badRequest,
  DEFAULT_RATE_LIMIT_RPM,
  gatewayKeyPrefix,
  generateGatewayKey,
  hashGatewayKey,
  keys,
  notFound,
  Secret,
  timestampWithOffset,
} from '@gatehouse/contract';
import type { Transaction } from '@gatehouse/store';
import { findActiveRoutes, findRouteOfAlias } from '../catalogue/index.ts';
import { withSession } from '../http/implement.ts';
import type { ControlPlaneSettings } from '../settings.ts';
import type { KeyChanges } from './change-keys.ts';
import { insertKey } from './insert-key.ts';
import { keyFields } from './key-fields.ts';
import { noActiveRoute, notInFuture } from './messages.ts';
import { findOwnedProject } from './ownership.ts';
import * as queries from './queries.ts';
import { readRepeatable, rejectRepeat } from './repeats.ts';

type KeySettings = Pick<ControlPlaneSettings, 'keysPerOrganization' | 'rateLimitCeilingRpm'>;

/** `randomBytes(n)` must be cryptographically secure. */
export function createKey(changes: KeyChanges, settings: KeySettings, randomBytes: (n: number) => Buffer) {
  return withSession(
    keys.createKey,
    async ({ body, record, header }, session) => {
      const { organizationId } = session;
      const repeatable = readRepeatable(organizationId, header('idempotency-key'), body);
      const secret = new Secret(generateGatewayKey(randomBytes));

      const key = await changes.inOrganization(organizationId, async (tx) => {
        await rejectRepeat(tx, repeatable);

        const projectId = await findOwnedProject(tx, organizationId, body.project_id);
        if (projectId === undefined) throw notFound('Project');
        const expiresAt = body.expires_at == null ? null : await requireFuture(tx, body.expires_at);
        const allowedModels =
          body.allowed_models == null ? null : await requireActiveRoutes(tx, body.allowed_models);

        const row = await insertKey(tx, {
          organizationId,
          projectId,
          name: body.name,
          keyPrefix: gatewayKeyPrefix(secret.reveal()),
          secretHash: hashGatewayKey(secret.reveal()),
          rateLimitRpm: Math.min(DEFAULT_RATE_LIMIT_RPM, settings.rateLimitCeilingRpm),
          expiresAt,
          creditLimitMicroPkr: body.credit_limit_cents == null ? null : BigInt(body.credit_limit_cents),
          allowedModels,
          environment: body.environment,
          createdBy: session.userId,
          maxKeys: settings.keysPerOrganization,
        });
        if (repeatable) await tx.run(queries.upsertIdempotencyKey, { ...repeatable, keyId: row.id });
        await record(tx, 'api_key.created', row.keyPrefix);
        return row;
      });

      return {
        body: {
          ...keyFields(key, settings.rateLimitCeilingRpm),
          enforcement_status: {
            expires_at: 'enforced',
            credit_limit_cents: 'enforced',
            allowed_models: 'enforced',
          },
          api_key: secret.reveal(),
        },
      };
    },
    { holdsPermit: false },
  );
}

async function requireFuture(tx: Transaction, epochMicros: bigint): Promise<string> {
  const expiresAt = timestampWithOffset(epochMicros);
  const judged = await tx.one(queries.isInFuture, { instant: expiresAt });
  if (!judged?.isInFuture) throw badRequest(notInFuture(expiresAt));
  return expiresAt;
}

async function requireActiveRoutes(tx: Transaction, given: readonly string[]): Promise<readonly string[]> {
  const ids = [...new Set(given)];
  const active = new Set((await tx.many(findActiveRoutes, { ids })).map((row) => row.id));
  const others = ids.filter((id) => !active.has(id));
  if (others.length > 0) {
    throw badRequest(noActiveRoute(others, await tx.one(findRouteOfAlias, { names: others })));
  }
  return ids;
}
