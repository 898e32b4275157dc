import type { keys } from '@gatehouse/contract';
import { statement, type Transaction } from '@gatehouse/store';
import type { Owned } from './ownership.ts';
import type { CreditPosition } from './rules.ts';

export type Environment = (typeof keys.ENVIRONMENTS)[number];

/** A key. Of its secret, only the prefix. */
export interface KeyRow {
  readonly id: string;
  readonly name: string;
  readonly project_id: string;
  readonly key_prefix: string;
  readonly rate_limit_rpm: number;
  readonly expires_at: string | null;
  readonly credit_limit_micro_pkr: bigint | null;
  readonly allowed_models: string[] | null;
  readonly environment: Environment;
  readonly created_at: string;
}

const KEY_COLUMNS =
  'id, name, project_id, key_prefix, rate_limit_rpm, expires_at, credit_limit_micro_pkr, allowed_models, environment, created_at';

const lockOrganizationRow = statement(
  'keys-lock-organization',
  `SELECT FROM organizations WHERE id = $1 FOR NO KEY UPDATE`,
);

/**
 * Serialises all changes of the organisation's keys until the commit. Locking the keys' rows is not enough: minting
 * inserts a row after the sum of the limits was checked. Take this lock before the row of any key. Inserting rows that
 * refer to the organisation, such as activity entries, does not wait for it.
 */
export async function lockOrganization(tx: Transaction, organizationId: string): Promise<void> {
  await tx.run(lockOrganizationRow, [organizationId]);
}

export const findProject = statement<{ id: string }>(
  'keys-find-project',
  `SELECT id FROM projects WHERE id = $1 AND organization_id = $2`,
);

export const findKey = statement<{ id: string }>(
  'keys-find-key',
  `SELECT id FROM api_keys WHERE id = $1 AND organization_id = $2`,
);

// Expiry is always judged by the database's clock, at the current moment, not at the start of the transaction.
export const isInFuture = statement<{ is_in_future: boolean }>(
  'keys-is-in-future',
  `SELECT $1::timestamptz > clock_timestamp() AS is_in_future`,
);

const insertKeyRow = statement<KeyRow>(
  'keys-insert-key',
  `INSERT INTO api_keys (organization_id, project_id, name, key_prefix, secret_hash, rate_limit_rpm,
                         expires_at, credit_limit_micro_pkr, allowed_models, environment)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
   RETURNING ${KEY_COLUMNS}`,
);

export interface NewKey {
  readonly organizationId: string;
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
}

export async function insertKey(tx: Transaction, key: NewKey): Promise<KeyRow> {
  const row = await tx.one(insertKeyRow, [
    key.organizationId,
    key.projectId,
    key.name,
    key.keyPrefix,
    key.secretHash,
    key.rateLimitRpm,
    key.expiresAt,
    key.creditLimitMicroPkr,
    key.allowedModels,
    key.environment,
  ]);
  if (!row) throw new Error('an insert of one key returned no row');
  return row;
}

// For the demo only, whose keys are older than their rows.
export const backdateKey = statement('keys-backdate', `UPDATE api_keys SET created_at = $2 WHERE id = $1`);

// Sets the limit alone. Keep the condition equal to `spendFloor`.
export const limitKey = statement<{ key_prefix: string }>(
  'keys-limit',
  `UPDATE api_keys SET credit_limit_micro_pkr = $3
   WHERE id = $1 AND organization_id = $2 AND revoked_at IS NULL AND spent_micro_pkr + unsettled_micro_pkr <= $3::bigint
   RETURNING key_prefix`,
);

export const listKeys = statement<KeyRow>(
  'keys-list',
  `SELECT ${KEY_COLUMNS} FROM api_keys
   WHERE organization_id = $1 AND revoked_at IS NULL
   ORDER BY created_at DESC, id`,
);

// One statement finds and revokes, so of concurrent attempts exactly one gets the row.
export const revokeKey = statement<{ key_prefix: string }>(
  'keys-revoke',
  `UPDATE api_keys SET revoked_at = clock_timestamp()
   WHERE id = $1 AND organization_id = $2 AND revoked_at IS NULL
   RETURNING key_prefix`,
);

// The other keys include expired ones, whose expiry can be extended. Consistent only under the organisation's lock.
export const findChangeable = statement<CreditPosition>(
  'keys-find-changeable',
  `SELECT k.spent_micro_pkr AS "settledMicroPkr", k.unsettled_micro_pkr AS "unsettledMicroPkr",
          b.deposited_micro_pkr AS "budgetMicroPkr",
          (SELECT coalesce(sum(o.credit_limit_micro_pkr), 0) FROM api_keys o
           WHERE o.organization_id = k.organization_id AND o.id <> k.id AND o.revoked_at IS NULL
          ) AS "otherLimitsMicroPkr"
   FROM api_keys k JOIN balances b ON b.organization_id = k.organization_id
   WHERE k.id = $1 AND k.organization_id = $2 AND k.revoked_at IS NULL`,
);

// Checks the spend on the current row, which is then locked against settlement. Keep the condition equal to `spendFloor`.
export const updateKey = statement<KeyRow>(
  'keys-update',
  `UPDATE api_keys SET rate_limit_rpm = $3, credit_limit_micro_pkr = $4, expires_at = $5
   WHERE id = $1 AND organization_id = $2 AND revoked_at IS NULL
     AND ($4::bigint IS NULL OR spent_micro_pkr + unsettled_micro_pkr <= $4::bigint)
   RETURNING ${KEY_COLUMNS}`,
);

export const findMintedBefore = statement<{ key_prefix: string; is_same_request: boolean }>(
  'keys-find-minted-before',
  `SELECT k.key_prefix, coalesce(i.request_sha256 = $3, true) AS is_same_request
   FROM idempotency_keys i JOIN api_keys k ON k.id = i.api_key_id
   WHERE i.organization_id = $1 AND i.idempotency_key = $2
     AND i.created_at > clock_timestamp() - interval '24 hours'`,
);

// An existing row is older than a day: a younger one would have been a conflict.
export const upsertIdempotencyKey = statement(
  'keys-upsert-idempotency-key',
  `INSERT INTO idempotency_keys (organization_id, idempotency_key, api_key_id, request_sha256)
   VALUES ($1, $2, $3, $4)
   ON CONFLICT (organization_id, idempotency_key)
     DO UPDATE SET api_key_id = excluded.api_key_id, request_sha256 = excluded.request_sha256,
                   created_at = excluded.created_at`,
);

export const deleteOldIdempotencyKeys = statement(
  'keys-delete-old-idempotency-keys',
  `DELETE FROM idempotency_keys WHERE created_at <= clock_timestamp() - interval '24 hours'`,
);
