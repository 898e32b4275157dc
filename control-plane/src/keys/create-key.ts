import {
  badRequest,
  conflict,
  DEFAULT_RATE_LIMIT_RPM,
  gatewayKeyPrefix,
  generateGatewayKey,
  hashGatewayKey,
  keys,
  notFound,
  timestampWithOffset,
} from '@gatehouse/contract';
import type { Database, Transaction } from '@gatehouse/store';
import { record } from '../activity/index.ts';
import { findActiveRoutes } from '../catalogue/index.ts';
import { withSession } from '../http/implement.ts';
import { findOwnedProject } from './ownership.ts';
import * as queries from './queries.ts';
import { keyFields, noActiveRoute, notInFuture, readIdempotencyKey } from './rules.ts';
import { Secret } from './secret.ts';

/** `randomBytes(n)` gives n bytes that nobody can guess. */
export function createKey(database: Database, randomBytes: (n: number) => Buffer) {
  return withSession(keys.createKey, async ({ body, sourceIp, header }, session) => {
    const { organizationId } = session;
    const idempotencyKey = readIdempotencyKey(header('idempotency-key'));
    const secret = new Secret(generateGatewayKey(randomBytes));

    const key = await database.transaction(async (tx) => {
      await queries.lockOrganization(tx, organizationId);
      if (idempotencyKey !== undefined) await refuseRepeat(tx, organizationId, idempotencyKey);

      const projectId = await findOwnedProject(tx, organizationId, body.project_id);
      if (projectId === undefined) throw notFound('Project');
      const expiresAt = body.expires_at == null ? null : await requireFuture(tx, body.expires_at);
      const allowedModels =
        body.allowed_models == null ? null : await requireActiveRoutes(tx, body.allowed_models);

      const row = await queries.insertKey(tx, {
        organizationId,
        projectId,
        name: body.name,
        keyPrefix: gatewayKeyPrefix(secret.reveal()),
        secretHash: hashGatewayKey(secret.reveal()),
        rateLimitRpm: DEFAULT_RATE_LIMIT_RPM,
        expiresAt,
        creditLimitMicroPkr: body.credit_limit_cents == null ? null : BigInt(body.credit_limit_cents),
        allowedModels,
        environment: body.environment,
      });
      if (idempotencyKey !== undefined) {
        await tx.run(queries.keepIdempotencyKey, [organizationId, idempotencyKey, row.id]);
      }
      await record(tx, {
        organizationId,
        actorUserId: session.userId,
        action: 'api_key.created',
        target: row.key_prefix,
        sourceIp,
      });
      return row;
    });

    return {
      body: {
        ...keyFields(key),
        enforcement_status: {
          expires_at: 'enforced',
          credit_limit_cents: 'enforced',
          allowed_models: 'enforced',
        },
        api_key: secret.reveal(),
      },
    };
  });
}

// Asked under the organisation's lock, so that of several repeats at once only the first finds nothing.
async function refuseRepeat(tx: Transaction, organizationId: string, idempotencyKey: string): Promise<void> {
  const minted = await tx.one(queries.findMintedBefore, [organizationId, idempotencyKey]);
  if (!minted) return;
  throw conflict(
    `This Idempotency-Key has minted the key ${minted.key_prefix} already; its secret was in that reply only.`,
  );
}

async function requireFuture(tx: Transaction, epochMicros: bigint): Promise<string> {
  const expiresAt = timestampWithOffset(epochMicros);
  const judged = await tx.one(queries.isInFuture, [expiresAt]);
  if (!judged?.is_in_future) throw badRequest(notInFuture(epochMicros));
  return expiresAt;
}

async function requireActiveRoutes(tx: Transaction, given: readonly string[]): Promise<readonly string[]> {
  const ids = [...new Set(given)];
  const active = new Set((await tx.many(findActiveRoutes, [ids])).map((row) => row.id));
  const others = ids.filter((id) => !active.has(id));
  if (others.length > 0) throw badRequest(noActiveRoute(others));
  return ids;
}
