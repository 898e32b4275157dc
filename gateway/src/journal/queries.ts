import type { KeyId, OrganizationId, RequestId } from '@gatehouse/contract';
import { type NoParameters, sql, statement } from '@gatehouse/store';

/** What one transaction changes for one key: cost newly settled, holds released, and of those what was final. */
export interface AccountChange {
  readonly keyId: KeyId;
  readonly organizationId: OrganizationId;
  readonly spentMicroPkr: bigint;
  readonly releasedMicroPkr: bigint;
  readonly finalMicroPkr: bigint;
}

// A settled request is counted for ever, so a crash of the server must not lose its commit. A setting stronger than `on`
// (a remote flush) stays.
//
// The lock keeps weeks from being closed until this transaction ends (functions/lock_settlements.sql). It is a statement
// of its own because the next one must see what was committed before the lock was granted.
export const beginSettling = statement<NoParameters>(
  'journal-begin-settling',
  sql`
    SELECT CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', true) END,
           pg_advisory_xact_lock_shared(7215534103)`,
);

// Of these requests, those whose settlement may no longer be a row: of a closed week, whose requests the ledger no longer counts,
// or old enough to have been folded.
export const listOld = statement<
  { requestIds: readonly RequestId[] },
  { requestId: RequestId; isClosed: boolean }
>(
  'journal-list-old',
  sql`
    SELECT f.request_id, f.request_id < h.closed_before AS is_closed FROM unnest(${'requestIds'}::uuid[]) AS f (request_id)
    JOIN settlement_horizon h
      ON f.request_id >= h.opened_at AND f.request_id < greatest(h.closed_before, h.folded_before)`,
);

// Of two processes that settle the same segment, the second waits here until the first has committed. Whether the ledger has its
// records is asked afterwards, in a statement of its own.
export const lockPositions = statement<{ origins: readonly string[]; sequences: readonly number[] }>(
  'journal-lock-positions',
  sql`
    INSERT INTO journal_positions AS p (origin, sequence, settled_bytes)
    SELECT DISTINCT origin, sequence, 0 FROM unnest(${'origins'}::uuid[], ${'sequences'}::bigint[]) AS s (origin, sequence)
    ORDER BY origin, sequence
    ON CONFLICT (origin, sequence) DO UPDATE SET settled_bytes = p.settled_bytes`,
);

// Of these records, those that a position covers.
export const listCovered = statement<
  {
    requestIds: readonly RequestId[];
    origins: readonly string[];
    sequences: readonly number[];
    ends: readonly number[];
  },
  { requestId: RequestId }
>(
  'journal-list-covered',
  sql`
    SELECT r.request_id
    FROM unnest(${'requestIds'}::uuid[], ${'origins'}::uuid[], ${'sequences'}::bigint[], ${'ends'}::bigint[])
      AS r (request_id, origin, sequence, ends_at)
    JOIN journal_positions p ON p.origin = r.origin AND p.sequence = r.sequence AND p.settled_bytes >= r.ends_at`,
);

// Of these requests, those that still have a hold, which stays until this transaction ends.
export const lockHolds = statement<{ requestIds: readonly RequestId[] }, { requestId: RequestId }>(
  'journal-lock-holds',
  sql`
    SELECT request_id FROM holds WHERE request_id = ANY (${'requestIds'}::uuid[]) ORDER BY request_id FOR UPDATE`,
);

export const advancePositions = statement<{
  origins: readonly string[];
  sequences: readonly number[];
  settledBytes: readonly number[];
}>(
  'journal-advance-positions',
  sql`
    INSERT INTO journal_positions AS p (origin, sequence, settled_bytes)
    SELECT origin, sequence, settled_bytes
    FROM unnest(${'origins'}::uuid[], ${'sequences'}::bigint[], ${'settledBytes'}::bigint[]) AS s (origin, sequence, settled_bytes)
    ORDER BY origin, sequence
    ON CONFLICT (origin, sequence) DO UPDATE
      SET settled_bytes = greatest(p.settled_bytes, excluded.settled_bytes), settled_at = excluded.settled_at`,
);

// Counts requests and ends holds. A request that is settled already returns no row, so it is not counted again; neither
// is a hold that is gone. Ordered, so that two processes that settle the same requests, or an admission that lowers the
// holds of finished ones (functions/admit_batch.sql), wait for each other instead of deadlocking.
export const insertSettlements = statement<
  {
    requestIds: readonly RequestId[];
    organizationIds: readonly OrganizationId[];
    keyIds: readonly KeyId[];
    costsMicroPkr: readonly bigint[];
    arePositioned: readonly boolean[];
    endedIds: readonly RequestId[];
  },
  AccountChange
>(
  'journal-insert-settlements',
  sql`
    WITH finished AS (
      SELECT * FROM unnest(${'requestIds'}::uuid[], ${'organizationIds'}::uuid[], ${'keyIds'}::uuid[], ${'costsMicroPkr'}::bigint[],
        ${'arePositioned'}::boolean[]) AS f (request_id, organization_id, key_id, cost_micro_pkr, is_positioned)
    ), settled AS (
      INSERT INTO settlements (request_id, organization_id, key_id, cost_micro_pkr, is_positioned)
      SELECT request_id, organization_id, key_id, cost_micro_pkr, is_positioned FROM finished ORDER BY request_id
      ON CONFLICT (request_id) DO NOTHING
      RETURNING key_id, organization_id, cost_micro_pkr AS spent, 0::bigint AS released, false AS is_final
    ), ended AS MATERIALIZED (
      SELECT request_id FROM holds WHERE request_id = ANY (${'endedIds'}::uuid[]) ORDER BY request_id FOR UPDATE
    ), released AS (
      DELETE FROM holds USING ended WHERE holds.request_id = ended.request_id
      RETURNING holds.key_id, holds.organization_id, 0::bigint AS spent, holds.amount_micro_pkr AS released, holds.is_final
    )
    SELECT key_id, organization_id, sum(spent)::bigint AS spent_micro_pkr, sum(released)::bigint AS released_micro_pkr,
           coalesce(sum(released) FILTER (WHERE is_final), 0)::bigint AS final_micro_pkr
    FROM (SELECT * FROM settled UNION ALL SELECT * FROM released) AS changes
    GROUP BY key_id, organization_id
    HAVING sum(spent) > 0 OR sum(released) > 0`,
);

// Skips rows that a settlement or the reaper of another node has locked: the one that deletes a hold releases it. A final
// hold is not released: its request has finished, and its amount is spent.
export const deleteOverdueHolds = statement<{ limit: number }, AccountChange & { readonly holds: bigint }>(
  'journal-delete-overdue-holds',
  sql`
    WITH overdue AS (
      SELECT request_id FROM holds WHERE deadline < clock_timestamp() AND NOT is_final
      ORDER BY deadline LIMIT ${'limit'} FOR UPDATE SKIP LOCKED
    ), released AS (
      DELETE FROM holds USING overdue WHERE holds.request_id = overdue.request_id
      RETURNING holds.key_id, holds.organization_id, holds.amount_micro_pkr
    )
    SELECT key_id, organization_id, count(*) AS holds, 0::bigint AS spent_micro_pkr,
           sum(amount_micro_pkr)::bigint AS released_micro_pkr, 0::bigint AS final_micro_pkr
    FROM released
    GROUP BY key_id, organization_id`,
);

// Finished requests whose records their node has not settled by the deadline. The amount is what each cost.
export const listOverdueFinalHolds = statement<
  { limit: number },
  {
    readonly requestId: RequestId;
    readonly organizationId: OrganizationId;
    readonly keyId: KeyId;
    readonly costMicroPkr: bigint;
  }
>(
  'journal-list-overdue-final-holds',
  sql`
    SELECT request_id, organization_id, key_id, amount_micro_pkr AS cost_micro_pkr
    FROM holds WHERE deadline < clock_timestamp() AND is_final
    ORDER BY deadline LIMIT ${'limit'}`,
);

interface Sums {
  readonly spent: readonly bigint[];
  readonly released: readonly bigint[];
  readonly final: readonly bigint[];
}

// Accounts are locked in one order everywhere: keys by id, then balances by organisation. They come last in their
// transaction, because admissions wait for them.
export const updateKeyAccounts = statement<Sums & { readonly keyIds: readonly KeyId[] }>(
  'journal-update-key-accounts',
  sql`
    WITH change AS (
      SELECT key_id, sum(spent)::bigint AS spent, sum(released)::bigint AS released, sum(final)::bigint AS final
      FROM unnest(${'keyIds'}::uuid[], ${'spent'}::bigint[], ${'released'}::bigint[], ${'final'}::bigint[])
        AS c (key_id, spent, released, final)
      GROUP BY key_id
    ), locked AS MATERIALIZED (
      SELECT id FROM api_keys WHERE id = ANY (${'keyIds'}::uuid[]) ORDER BY id FOR NO KEY UPDATE
    )
    UPDATE api_keys
    SET spent_micro_pkr = api_keys.spent_micro_pkr + change.spent,
        held_micro_pkr = api_keys.held_micro_pkr - change.released,
        unsettled_micro_pkr = api_keys.unsettled_micro_pkr - change.final
    FROM locked JOIN change ON change.key_id = locked.id
    WHERE api_keys.id = locked.id`,
);

export const updateBalances = statement<Sums & { readonly organizationIds: readonly OrganizationId[] }>(
  'journal-update-balances',
  sql`
    WITH change AS (
      SELECT organization_id, sum(spent)::bigint AS spent, sum(released)::bigint AS released, sum(final)::bigint AS final
      FROM unnest(${'organizationIds'}::uuid[], ${'spent'}::bigint[], ${'released'}::bigint[], ${'final'}::bigint[])
        AS c (organization_id, spent, released, final)
      GROUP BY organization_id
    ), locked AS MATERIALIZED (
      SELECT organization_id FROM balances WHERE organization_id = ANY (${'organizationIds'}::uuid[])
      ORDER BY organization_id FOR NO KEY UPDATE
    )
    UPDATE balances
    SET spent_micro_pkr = balances.spent_micro_pkr + change.spent,
        held_micro_pkr = balances.held_micro_pkr - change.released,
        unsettled_micro_pkr = balances.unsettled_micro_pkr - change.final
    FROM locked JOIN change ON change.organization_id = locked.organization_id
    WHERE balances.organization_id = locked.organization_id`,
);

export const isReachable = statement<NoParameters>('journal-is-reachable', sql`SELECT`);
