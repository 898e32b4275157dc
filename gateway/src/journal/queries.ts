import { statement } from '@gatehouse/store';

/** What one transaction changes for one key: cost newly settled, holds released, and those of them that were final. */
export interface AccountChange {
  readonly keyId: string;
  readonly organizationId: string;
  readonly spentMicroPkr: bigint;
  readonly releasedMicroPkr: bigint;
  readonly finalMicroPkr: bigint;
}

// A settled request is counted for ever, so its commit must not be lost to a crash of the server. Whoever asked
// for more than `on` (a remote flush) keeps it.
//
// The lock keeps weeks from being closed until this transaction has ended (0009-ledger.sql). It has a statement of its
// own because what the next one sees must be newer than the lock.
export const beginSettling = statement(
  'journal-begin-settling',
  `SELECT CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', true) END,
          pg_advisory_xact_lock_shared(7215534103)`,
);

// Of these requests, those that the ledger counts no more.
export const listClosed = statement<{ requestId: string }>(
  'journal-list-closed',
  `SELECT f.request_id AS "requestId" FROM unnest($1::uuid[]) AS f (request_id)
   JOIN settlement_horizon h ON f.request_id >= h.opened_at AND f.request_id < h.closed_before`,
);

// $1 to $4: the requests to count. $5: those whose holds are over.
// A request that is settled already gives no row, so it is not counted again; neither is a hold that is gone.
// Ordered, so that two processes that settle the same requests, or an admission that lowers the holds of finished ones
// (0013-admission.sql), wait for each other instead of deadlocking.
export const insertSettlements = statement<AccountChange>(
  'journal-insert-settlements',
  `WITH finished AS (
     SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::bigint[])
       AS f (request_id, organization_id, key_id, cost_micro_pkr)
   ), settled AS (
     INSERT INTO settlements (request_id, organization_id, key_id, cost_micro_pkr)
     SELECT request_id, organization_id, key_id, cost_micro_pkr FROM finished ORDER BY request_id
     ON CONFLICT (request_id) DO NOTHING
     RETURNING key_id, organization_id, cost_micro_pkr AS spent, 0::bigint AS released, false AS is_final
   ), ended AS MATERIALIZED (
     SELECT request_id FROM holds WHERE request_id = ANY ($5::uuid[]) ORDER BY request_id FOR UPDATE
   ), released AS (
     DELETE FROM holds USING ended WHERE holds.request_id = ended.request_id
     RETURNING holds.key_id, holds.organization_id, 0::bigint AS spent, holds.amount_micro_pkr AS released, holds.is_final
   )
   SELECT key_id AS "keyId", organization_id AS "organizationId",
          sum(spent)::bigint AS "spentMicroPkr", sum(released)::bigint AS "releasedMicroPkr",
          coalesce(sum(released) FILTER (WHERE is_final), 0)::bigint AS "finalMicroPkr"
   FROM (SELECT * FROM settled UNION ALL SELECT * FROM released) AS changes
   GROUP BY key_id, organization_id
   HAVING sum(spent) > 0 OR sum(released) > 0`,
);

// Skips rows that a settlement or another node's reaper has in hand: whichever deletes a hold releases it.
// A final hold is not released: its request has finished, and its amount is spent.
export const deleteOverdueHolds = statement<AccountChange & { readonly holds: bigint }>(
  'journal-delete-overdue-holds',
  `WITH overdue AS (
     SELECT request_id FROM holds WHERE deadline < clock_timestamp() AND NOT is_final
     ORDER BY deadline LIMIT $1 FOR UPDATE SKIP LOCKED
   ), released AS (
     DELETE FROM holds USING overdue WHERE holds.request_id = overdue.request_id
     RETURNING holds.key_id, holds.organization_id, holds.amount_micro_pkr
   )
   SELECT key_id AS "keyId", organization_id AS "organizationId", count(*) AS holds,
          0::bigint AS "spentMicroPkr", sum(amount_micro_pkr)::bigint AS "releasedMicroPkr",
          0::bigint AS "finalMicroPkr"
   FROM released
   GROUP BY key_id, organization_id`,
);

// Finished requests whose records their node has not settled by the deadline. The amount is what each cost.
export const listOverdueFinalHolds = statement<{
  readonly requestId: string;
  readonly organizationId: string;
  readonly keyId: string;
  readonly costMicroPkr: bigint;
}>(
  'journal-list-overdue-final-holds',
  `SELECT request_id AS "requestId", organization_id AS "organizationId", key_id AS "keyId",
          amount_micro_pkr AS "costMicroPkr"
   FROM holds WHERE deadline < clock_timestamp() AND is_final
   ORDER BY deadline LIMIT $1`,
);

// Accounts are locked in one order everywhere: keys by id, then balances by organisation, as the admission of a
// request takes its key and then its balance. They come last in their transaction, because admissions wait for them.
export const updateKeyAccounts = statement(
  'journal-update-key-accounts',
  `WITH change AS (
     SELECT key_id, sum(spent)::bigint AS spent, sum(released)::bigint AS released, sum(final)::bigint AS final
     FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[]) AS c (key_id, spent, released, final)
     GROUP BY key_id
   ), locked AS MATERIALIZED (
     SELECT id FROM api_keys WHERE id = ANY ($1::uuid[]) ORDER BY id FOR NO KEY UPDATE
   )
   UPDATE api_keys
   SET spent_micro_pkr = api_keys.spent_micro_pkr + change.spent,
       held_micro_pkr = api_keys.held_micro_pkr - change.released,
       unsettled_micro_pkr = api_keys.unsettled_micro_pkr - change.final
   FROM locked JOIN change ON change.key_id = locked.id
   WHERE api_keys.id = locked.id`,
);

export const updateBalances = statement(
  'journal-update-balances',
  `WITH change AS (
     SELECT organization_id, sum(spent)::bigint AS spent, sum(released)::bigint AS released, sum(final)::bigint AS final
     FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[]) AS c (organization_id, spent, released, final)
     GROUP BY organization_id
   ), locked AS MATERIALIZED (
     SELECT organization_id FROM balances WHERE organization_id = ANY ($1::uuid[])
     ORDER BY organization_id FOR NO KEY UPDATE
   )
   UPDATE balances
   SET spent_micro_pkr = balances.spent_micro_pkr + change.spent,
       held_micro_pkr = balances.held_micro_pkr - change.released,
       unsettled_micro_pkr = balances.unsettled_micro_pkr - change.final
   FROM locked JOIN change ON change.organization_id = locked.organization_id
   WHERE balances.organization_id = locked.organization_id`,
);

export const answers = statement('journal-answers', 'SELECT');
