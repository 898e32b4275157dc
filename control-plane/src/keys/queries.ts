import type { KeyId, keys, OrganizationId, ProjectId, UserId } from '@gatehouse/contract';
import { type NoParameters, sql, statement } from '@gatehouse/store';
import { type Owned, tenantStatement } from '../tenant-statement.ts';
import type { CreditPosition } from './rules.ts';

export type Environment = (typeof keys.ENVIRONMENTS)[number];

/** A key. Of its secret, only the prefix. */
export interface KeyRow {
  readonly id: KeyId;
  readonly name: string;
  readonly projectId: ProjectId;
  readonly keyPrefix: string;
  readonly rateLimitRpm: number;
  readonly expiresAt: string | null;
  readonly creditLimitMicroPkr: bigint | null;
  readonly allowedModels: string[] | null;
  readonly environment: Environment;
  readonly createdAt: string;
}

const KEY_COLUMNS = sql`id, name, project_id, key_prefix, rate_limit_rpm, expires_at, credit_limit_micro_pkr,
  allowed_models, environment, created_at`;

/** A key named by a caller, and the organisation whose key it has to be. */
export interface KeyOfOrganization {
  readonly keyId: KeyId;
  readonly organizationId: OrganizationId;
}

export const findProject = tenantStatement<
  { projectId: ProjectId; organizationId: OrganizationId },
  { id: Owned<'project'> }
>(
  'keys-find-project',
  sql`SELECT id FROM projects WHERE id = ${'projectId'} AND organization_id = ${'organizationId'}`,
);

export const findKey = tenantStatement<KeyOfOrganization, { id: Owned<'key'> }>(
  'keys-find-key',
  sql`SELECT id FROM api_keys WHERE id = ${'keyId'} AND organization_id = ${'organizationId'}`,
);

// Expiry is always judged by the database's clock, at the current moment, not at the start of the transaction.
export const isInFuture = statement<{ instant: string }, { isInFuture: boolean }>(
  'keys-is-in-future',
  sql`SELECT ${'instant'}::timestamptz > clock_timestamp() AS is_in_future`,
);

export interface NewKey {
  readonly organizationId: OrganizationId;
  readonly projectId: Owned<'project'>;
  readonly name: string;
  readonly keyPrefix: string;
  readonly secretHash: Buffer;
  readonly rateLimitRpm: number;
  /** ISO 8601 with an offset. */
  readonly expiresAt: string | null;
  readonly creditLimitMicroPkr: bigint | null;
  readonly allowedModels: readonly string[] | null;
  readonly environment: Environment;
  /** The member who mints it; null for an operator's command. */
  readonly createdBy: UserId | null;
  /** How many keys that are not revoked the organisation may have. */
  readonly maxKeys: number;
}

// Requires the organisation's lock: nothing mints between the count and the insert. No row where the organisation has as many
// keys as it may have.
export const insertKey = tenantStatement<NewKey, KeyRow>(
  'keys-insert-key',
  sql`INSERT INTO api_keys (organization_id, project_id, name, key_prefix, secret_hash, rate_limit_rpm,
                            expires_at, credit_limit_micro_pkr, allowed_models, environment, created_by)
      SELECT ${'organizationId'}, ${'projectId'}, ${'name'}, ${'keyPrefix'}, ${'secretHash'}, ${'rateLimitRpm'},
             ${'expiresAt'}, ${'creditLimitMicroPkr'}, ${'allowedModels'}, ${'environment'}, ${'createdBy'}::uuid
      WHERE (SELECT count(*) FROM api_keys WHERE organization_id = ${'organizationId'} AND revoked_at IS NULL)
            < ${'maxKeys'}
      RETURNING ${KEY_COLUMNS}`,
);

// For the demo only, whose keys are older than their rows.
export const backdateKey = tenantStatement<KeyOfOrganization & { createdAt: string }>(
  'keys-backdate',
  sql`UPDATE api_keys SET created_at = ${'createdAt'}
      WHERE id = ${'keyId'} AND organization_id = ${'organizationId'}`,
);

// Sets the limit alone. Keep the condition equal to `spendFloor`.
export const limitKey = tenantStatement<
  KeyOfOrganization & { creditLimitMicroPkr: bigint },
  { keyPrefix: string }
>(
  'keys-limit',
  sql`UPDATE api_keys SET credit_limit_micro_pkr = ${'creditLimitMicroPkr'}
      WHERE id = ${'keyId'} AND organization_id = ${'organizationId'} AND revoked_at IS NULL
        AND spent_micro_pkr + unsettled_micro_pkr <= ${'creditLimitMicroPkr'}::bigint
      RETURNING key_prefix`,
);

/** The start of a page of a list of keys: after this key, or at the newest. */
export interface KeyCursor {
  readonly afterCreatedAt: string | null;
  readonly afterId: KeyId | null;
}

// The first condition on created_at finds the page in the index; the second one leaves out what the pages before had.
export const listKeys = tenantStatement<
  KeyCursor & { organizationId: OrganizationId; limit: number },
  KeyRow
>(
  'keys-list',
  sql`SELECT ${KEY_COLUMNS} FROM api_keys
      WHERE organization_id = ${'organizationId'} AND revoked_at IS NULL
        AND created_at <= coalesce(${'afterCreatedAt'}::timestamptz, 'infinity')
        AND (${'afterCreatedAt'}::timestamptz IS NULL OR created_at < ${'afterCreatedAt'}::timestamptz
             OR id > ${'afterId'}::uuid)
      ORDER BY created_at DESC, id
      LIMIT ${'limit'}`,
);

// As the first statement of a transaction: all that follow see the rows as they were at one moment.
export const readOneSnapshot = statement<NoParameters>(
  'keys-read-one-snapshot',
  sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY`,
);

interface OrganizationSums {
  readonly depositedMicroPkr: bigint;
  readonly spentMicroPkr: bigint;
  readonly heldMicroPkr: bigint;
  readonly activeKeys: bigint;
  readonly keyLimitsMicroPkr: bigint;
  readonly keySpentMicroPkr: bigint;
  readonly keyHeldMicroPkr: bigint;
}

interface KeySums {
  readonly id: KeyId;
  readonly name: string;
  readonly keyPrefix: string;
  readonly projectId: ProjectId;
  readonly projectName: string;
  readonly limitMicroPkr: bigint | null;
  readonly ownSpentMicroPkr: bigint;
  readonly ownHeldMicroPkr: bigint;
}

/** The sums of an organisation beside those of one active key, or beside nulls where the page has no key. */
export type BudgetRow = OrganizationSums & (KeySums | { readonly [Name in keyof KeySums]: null });

// One statement, so all of it is of one moment. Finished requests that are not settled count as spent, as they do in
// admission (store/src/postgres/functions/admit.sql). No index finds revoked keys; their sums are the difference.
export const listBudget = tenantStatement<
  { organizationId: OrganizationId; limit: number; offset: number },
  BudgetRow
>(
  'keys-list-budget',
  sql`SELECT b.deposited_micro_pkr, b.spent_micro_pkr + b.unsettled_micro_pkr AS spent_micro_pkr,
             b.held_micro_pkr - b.unsettled_micro_pkr AS held_micro_pkr,
             active.active_keys, active.key_limits_micro_pkr, active.key_spent_micro_pkr, active.key_held_micro_pkr,
             page.id, page.name, page.key_prefix, page.project_id, page.project_name, page.limit_micro_pkr,
             page.own_spent_micro_pkr, page.own_held_micro_pkr
      FROM balances b
      CROSS JOIN (
        SELECT count(*) AS active_keys,
               coalesce(sum(k.credit_limit_micro_pkr), 0) AS key_limits_micro_pkr,
               coalesce(sum(k.spent_micro_pkr + k.unsettled_micro_pkr), 0) AS key_spent_micro_pkr,
               coalesce(sum(k.held_micro_pkr - k.unsettled_micro_pkr), 0) AS key_held_micro_pkr
        FROM api_keys k WHERE k.organization_id = ${'organizationId'} AND k.revoked_at IS NULL
      ) AS active
      LEFT JOIN (
        SELECT k.id, k.name, k.key_prefix, k.project_id, p.name AS project_name, k.created_at,
               k.credit_limit_micro_pkr AS limit_micro_pkr,
               k.spent_micro_pkr + k.unsettled_micro_pkr AS own_spent_micro_pkr,
               k.held_micro_pkr - k.unsettled_micro_pkr AS own_held_micro_pkr
        FROM api_keys k JOIN projects p ON p.id = k.project_id
        WHERE k.organization_id = ${'organizationId'} AND k.revoked_at IS NULL
        ORDER BY k.created_at DESC, k.id
        LIMIT ${'limit'} OFFSET ${'offset'}
      ) AS page ON true
      WHERE b.organization_id = ${'organizationId'}
      ORDER BY page.created_at DESC, page.id`,
);

interface FullKeyRow extends KeyRow {
  readonly createdById: UserId | null;
  readonly createdByEmail: string | null;
  /** The previous secret's, while it is accepted. */
  readonly previousKeyPrefix: string | null;
  readonly previousValidUntil: string | null;
  readonly previousLastUsedAt: string | null;
}

export const findKeyInFull = tenantStatement<KeyOfOrganization, FullKeyRow>(
  'keys-find-in-full',
  sql`SELECT ${KEY_COLUMNS}, created_by AS created_by_id, created_by_email, previous_key_prefix, previous_valid_until,
             previous_last_used_at
      FROM api_keys k
      LEFT JOIN LATERAL (SELECT u.email AS created_by_email FROM users u WHERE u.id = k.created_by) AS minted ON true
      LEFT JOIN LATERAL (
        SELECT p.key_prefix AS previous_key_prefix, p.valid_until AS previous_valid_until,
               p.last_used_at AS previous_last_used_at
        FROM previous_secrets p
        WHERE p.key_id = k.id AND p.valid_until > clock_timestamp()) AS previous ON true
      WHERE id = ${'keyId'} AND organization_id = ${'organizationId'} AND revoked_at IS NULL`,
);

// One statement finds and revokes, so of concurrent attempts exactly one gets the row.
export const revokeKey = tenantStatement<KeyOfOrganization, { keyPrefix: string }>(
  'keys-revoke',
  sql`UPDATE api_keys SET revoked_at = clock_timestamp()
      WHERE id = ${'keyId'} AND organization_id = ${'organizationId'} AND revoked_at IS NULL
      RETURNING key_prefix`,
);

// The other keys include expired ones, whose expiry can be extended. Consistent only under the organisation's lock.
export const findChangeable = tenantStatement<KeyOfOrganization, CreditPosition>(
  'keys-find-changeable',
  sql`SELECT k.spent_micro_pkr AS settled_micro_pkr, k.unsettled_micro_pkr,
             b.deposited_micro_pkr AS budget_micro_pkr,
             (SELECT coalesce(sum(o.credit_limit_micro_pkr), 0) FROM api_keys o
              WHERE o.organization_id = k.organization_id AND o.id <> k.id AND o.revoked_at IS NULL
             ) AS other_limits_micro_pkr
      FROM api_keys k JOIN balances b ON b.organization_id = k.organization_id
      WHERE k.id = ${'keyId'} AND k.organization_id = ${'organizationId'} AND k.revoked_at IS NULL`,
);

export interface KeyChange extends KeyOfOrganization {
  readonly rateLimitRpm: number;
  readonly creditLimitMicroPkr: bigint | null;
  /** ISO 8601 with an offset. */
  readonly expiresAt: string | null;
}

// Checks the spend on the current row, which is then locked against settlement. Keep the condition equal to `spendFloor`.
export const updateKey = tenantStatement<KeyChange, KeyRow>(
  'keys-update',
  sql`UPDATE api_keys SET rate_limit_rpm = ${'rateLimitRpm'}, credit_limit_micro_pkr = ${'creditLimitMicroPkr'},
                          expires_at = ${'expiresAt'}
      WHERE id = ${'keyId'} AND organization_id = ${'organizationId'} AND revoked_at IS NULL
        AND (${'creditLimitMicroPkr'}::bigint IS NULL
             OR spent_micro_pkr + unsettled_micro_pkr <= ${'creditLimitMicroPkr'}::bigint)
      RETURNING ${KEY_COLUMNS}`,
);

export interface IdempotentRequest {
  readonly organizationId: OrganizationId;
  readonly idempotencyKey: string;
  readonly requestSha256: Buffer;
}

export const findMintedBefore = tenantStatement<
  IdempotentRequest,
  { keyPrefix: string; isSameRequest: boolean }
>(
  'keys-find-minted-before',
  sql`SELECT k.key_prefix, coalesce(i.request_sha256 = ${'requestSha256'}, true) AS is_same_request
      FROM idempotency_keys i JOIN api_keys k ON k.id = i.api_key_id
      WHERE i.organization_id = ${'organizationId'} AND i.idempotency_key = ${'idempotencyKey'}
        AND i.created_at > clock_timestamp() - interval '24 hours'`,
);

// An existing row is older than a day: a younger one would have been a conflict.
export const upsertIdempotencyKey = tenantStatement<IdempotentRequest & { keyId: KeyId }>(
  'keys-upsert-idempotency-key',
  sql`INSERT INTO idempotency_keys (organization_id, idempotency_key, api_key_id, request_sha256)
      VALUES (${'organizationId'}, ${'idempotencyKey'}, ${'keyId'}, ${'requestSha256'})
      ON CONFLICT (organization_id, idempotency_key)
        DO UPDATE SET api_key_id = excluded.api_key_id, request_sha256 = excluded.request_sha256,
                      created_at = excluded.created_at`,
);

export const deleteOldIdempotencyKeys = statement<NoParameters>(
  'keys-delete-old-idempotency-keys',
  sql`DELETE FROM idempotency_keys WHERE created_at <= clock_timestamp() - interval '24 hours'`,
);
