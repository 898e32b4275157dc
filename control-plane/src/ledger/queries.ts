import type { KeyId, OrganizationId } from '@gatehouse/contract';
import { type NoParameters, type Sql, sql, statement } from '@gatehouse/store';

// The database's functions of these names say what the two do.

export const keepSettlements = statement<NoParameters, { made: number; hasClosed: boolean }>(
  'ledger-keep-settlements',
  sql`SELECT made, has_closed FROM keep_settlements()`,
);

export const foldSettlements = statement<
  NoParameters,
  { folded: string | null; requests: bigint | null; spentMicroPkr: bigint | null }
>('ledger-fold-settlements', sql`SELECT folded, requests, spent_micro_pkr FROM fold_settlements()`);

export const foldSettledRequests = statement<NoParameters, { requests: bigint; isDone: boolean }>(
  'ledger-fold-settled-requests',
  sql`SELECT requests, is_done FROM fold_settled_requests()`,
);

/** The sums over all organisations. */
export const sumBalances = statement<
  NoParameters,
  {
    depositedMicroPkr: bigint;
    spentMicroPkr: bigint;
    heldMicroPkr: bigint;
    unsettledMicroPkr: bigint;
  }
>(
  'ledger-sum-balances',
  sql`SELECT coalesce(sum(deposited_micro_pkr), 0) AS deposited_micro_pkr, coalesce(sum(spent_micro_pkr), 0) AS spent_micro_pkr,
          coalesce(sum(held_micro_pkr), 0) AS held_micro_pkr, coalesce(sum(unsettled_micro_pkr), 0) AS unsettled_micro_pkr
   FROM balances`,
);

// The statements below read the whole ledger in one snapshot.

// Before the first read: a snapshot taken earlier would miss the rows of a partition that is dropped after it.
export const lockPartitions = statement<NoParameters>(
  'ledger-lock-partitions',
  sql`LOCK TABLE settlements IN ACCESS SHARE MODE`,
);

export const countAll = statement<
  NoParameters,
  {
    schemaStep: number;
    organizations: bigint;
    keys: bigint;
    settlements: bigint;
    folded: bigint;
    holds: bigint;
  }
>(
  'ledger-count-all',
  sql`SELECT (SELECT max(number) FROM schema_migrations) AS schema_step,
          (SELECT count(*) FROM organizations) AS organizations,
          (SELECT count(*) FROM api_keys) AS keys,
          (SELECT count(*) FROM settlements) AS settlements,
          (SELECT coalesce(sum(requests), 0) FROM settlement_totals) AS folded,
          (SELECT count(*) FROM holds) AS holds`,
);

/** A stored sum, beside the sum of its rows. A side that is missing is null. */
export interface SumRow {
  readonly organizationId: OrganizationId;
  readonly keptMicroPkr: bigint | null;
  readonly rowsMicroPkr: bigint | null;
}

type KeySumRow = SumRow & { readonly keyId: KeyId };
type Fragment = Sql<never>;

const SPENT = sql`SELECT key_id, organization_id, sum(spent) AS amount FROM (
  SELECT key_id, organization_id, sum(cost_micro_pkr) AS spent FROM settlements GROUP BY key_id, organization_id
  UNION ALL
  SELECT key_id, organization_id, spent_micro_pkr FROM settlement_totals
) AS parts GROUP BY key_id, organization_id`;

const HELD = sql`SELECT key_id, organization_id, sum(amount_micro_pkr) AS amount FROM holds GROUP BY key_id, organization_id`;

const UNSETTLED = sql`SELECT key_id, organization_id, sum(amount_micro_pkr) AS amount FROM holds WHERE is_final
  GROUP BY key_id, organization_id`;

const sumsOfKeys = (column: Fragment, rows: Fragment) =>
  sql`SELECT coalesce(k.id, r.key_id) AS key_id, coalesce(k.organization_id, r.organization_id) AS organization_id,
          k.${column} AS kept_micro_pkr, r.amount AS rows_micro_pkr
   FROM api_keys k FULL JOIN (${rows}) AS r ON r.key_id = k.id AND r.organization_id = k.organization_id
   WHERE k.id IS NULL OR k.${column} <> coalesce(r.amount, 0)
   ORDER BY 2, 1`;

const sumsOfOrganizations = (column: Fragment, rows: Fragment) =>
  sql`SELECT coalesce(o.id, r.organization_id) AS organization_id,
          b.${column} AS kept_micro_pkr, r.amount AS rows_micro_pkr
   FROM organizations o LEFT JOIN balances b ON b.organization_id = o.id
   FULL JOIN (SELECT organization_id, sum(amount) AS amount FROM (${rows}) AS parts GROUP BY organization_id) AS r
     ON r.organization_id = o.id
   WHERE b.${column} IS DISTINCT FROM coalesce(r.amount, 0)
   ORDER BY 1`;

export const listWrongKeySpend = statement<NoParameters, KeySumRow>(
  'ledger-list-wrong-key-spend',
  sumsOfKeys(sql`spent_micro_pkr`, SPENT),
);
export const listWrongKeyHolds = statement<NoParameters, KeySumRow>(
  'ledger-list-wrong-key-holds',
  sumsOfKeys(sql`held_micro_pkr`, HELD),
);
export const listWrongKeyUnsettled = statement<NoParameters, KeySumRow>(
  'ledger-list-wrong-key-unsettled',
  sumsOfKeys(sql`unsettled_micro_pkr`, UNSETTLED),
);
export const listWrongSpend = statement<NoParameters, SumRow>(
  'ledger-list-wrong-spend',
  sumsOfOrganizations(sql`spent_micro_pkr`, SPENT),
);
export const listWrongHolds = statement<NoParameters, SumRow>(
  'ledger-list-wrong-holds',
  sumsOfOrganizations(sql`held_micro_pkr`, HELD),
);
export const listWrongUnsettled = statement<NoParameters, SumRow>(
  'ledger-list-wrong-unsettled',
  sumsOfOrganizations(sql`unsettled_micro_pkr`, UNSETTLED),
);
export const listWrongDeposits = statement<NoParameters, SumRow>(
  'ledger-list-wrong-deposits',
  sumsOfOrganizations(
    sql`deposited_micro_pkr`,
    sql`SELECT organization_id, amount_micro_pkr AS amount FROM deposits`,
  ),
);

// The reaper runs every half minute. It has a minute after a deadline.
export const listOverdueHolds = statement<
  NoParameters,
  {
    organizationId: OrganizationId;
    keyId: KeyId;
    holds: bigint;
    amountMicroPkr: bigint;
    oldestDeadline: string;
  }
>(
  'ledger-list-overdue-holds',
  sql`SELECT organization_id, key_id, count(*) AS holds, sum(amount_micro_pkr) AS amount_micro_pkr,
          min(deadline) AS oldest_deadline
   FROM holds WHERE deadline < clock_timestamp() - interval '1 minute'
   GROUP BY organization_id, key_id ORDER BY oldest_deadline, key_id`,
);

// Some ids from before ids had a time look like one with a time; the version digit distinguishes them.
export const findPartitions = statement<
  NoParameters,
  { hasThisWeek: boolean; hasNextWeek: boolean; misplaced: bigint }
>(
  'ledger-find-partitions',
  sql`SELECT to_regclass(settlement_partition(settlement_week(clock_timestamp()))) IS NOT NULL AS has_this_week,
          to_regclass(settlement_partition(settlement_week(clock_timestamp() + interval '7 days'))) IS NOT NULL
            AS has_next_week,
          (SELECT count(*) FROM settlements_other o JOIN settlement_horizon h ON o.request_id >= h.opened_at
           WHERE substr(o.request_id::text, 15, 1) = '7') AS misplaced`,
);

// Rights that the service's role must not have, and rights that it needs.
export const listWrongRights = statement<
  { role: string },
  { what: string; right: string; isExcess: boolean }
>(
  'ledger-list-wrong-rights',
  sql`WITH money (name) AS (
     SELECT relid::text FROM pg_partition_tree('settlements')
     UNION ALL VALUES ('deposits'), ('settlement_totals'), ('settlement_horizon')
   ), may_change (name, "right") AS (
     VALUES ('settlements', 'INSERT'), ('deposits', 'INSERT')
   )
   SELECT m.name AS what, r.name AS "right", true AS is_excess
   FROM money m CROSS JOIN (VALUES ('INSERT'), ('UPDATE'), ('DELETE'), ('TRUNCATE')) AS r (name)
   WHERE has_table_privilege(${'role'}, m.name, r.name) AND (m.name, r.name) NOT IN (SELECT name, "right" FROM may_change)
   UNION ALL
   SELECT name, "right", false FROM may_change WHERE NOT has_table_privilege(${'role'}, name, "right")
   UNION ALL
   SELECT name, 'SELECT', false
   FROM unnest(ARRAY['settlements', 'deposits', 'settlement_totals', 'settlement_horizon']) AS name
   WHERE NOT has_table_privilege(${'role'}, name, 'SELECT')
   UNION ALL
   SELECT name, 'EXECUTE', false FROM unnest(ARRAY['keep_settlements()', 'fold_settlements()', 'fold_settled_requests()']) AS name
   WHERE NOT has_function_privilege(${'role'}, name, 'EXECUTE')
   ORDER BY 3 DESC, 1, 2`,
);
