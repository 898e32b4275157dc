import { statement } from '@gatehouse/store';

// What these two do is in the schema (0009-ledger.sql).

export const keepSettlements = statement<{ made: number; has_closed: boolean }>(
  'ledger-keep-settlements',
  'SELECT made, has_closed FROM keep_settlements()',
);

export interface FoldRow {
  readonly folded: string | null;
  readonly requests: bigint | null;
  readonly spent_micro_pkr: bigint | null;
}

export const foldSettlements = statement<FoldRow>(
  'ledger-fold-settlements',
  'SELECT folded, requests, spent_micro_pkr FROM fold_settlements()',
);

// What follows looks at the whole ledger as it was at one moment.

// Before the first look: a snapshot taken earlier would still miss the rows of a partition that is dropped after it.
export const lockPartitions = statement(
  'ledger-lock-partitions',
  'LOCK TABLE settlements IN ACCESS SHARE MODE',
);

export const countAll = statement<{
  schema_step: number;
  organizations: bigint;
  keys: bigint;
  settlements: bigint;
  folded: bigint;
  holds: bigint;
}>(
  'ledger-count-all',
  `SELECT (SELECT max(number) FROM schema_migrations) AS schema_step,
          (SELECT count(*) FROM organizations) AS organizations,
          (SELECT count(*) FROM api_keys) AS keys,
          (SELECT count(*) FROM settlements) AS settlements,
          (SELECT coalesce(sum(requests), 0) FROM settlement_totals) AS folded,
          (SELECT count(*) FROM holds) AS holds`,
);

/** A sum that is kept, beside what its rows come to. A side that is not there is null. */
export interface SumRow {
  readonly organization_id: string;
  readonly kept_micro_pkr: bigint | null;
  readonly rows_micro_pkr: bigint | null;
}

const SPENT = `SELECT key_id, organization_id, sum(spent) AS amount FROM (
  SELECT key_id, organization_id, sum(cost_micro_pkr) AS spent FROM settlements GROUP BY key_id, organization_id
  UNION ALL
  SELECT key_id, organization_id, spent_micro_pkr FROM settlement_totals
) AS parts GROUP BY key_id, organization_id`;

const HELD = `SELECT key_id, organization_id, sum(amount_micro_pkr) AS amount FROM holds GROUP BY key_id, organization_id`;

const UNSETTLED = `SELECT key_id, organization_id, sum(amount_micro_pkr) AS amount FROM holds WHERE is_final
  GROUP BY key_id, organization_id`;

const sumsOfKeys = (column: string, rows: string) =>
  `SELECT coalesce(k.id, r.key_id) AS key_id, coalesce(k.organization_id, r.organization_id) AS organization_id,
          k.${column} AS kept_micro_pkr, r.amount AS rows_micro_pkr
   FROM api_keys k FULL JOIN (${rows}) AS r ON r.key_id = k.id AND r.organization_id = k.organization_id
   WHERE k.id IS NULL OR k.${column} <> coalesce(r.amount, 0)
   ORDER BY 2, 1`;

const sumsOfOrganizations = (column: string, rows: string) =>
  `SELECT coalesce(o.id, r.organization_id) AS organization_id,
          b.${column} AS kept_micro_pkr, r.amount AS rows_micro_pkr
   FROM organizations o LEFT JOIN balances b ON b.organization_id = o.id
   FULL JOIN (SELECT organization_id, sum(amount) AS amount FROM (${rows}) AS parts GROUP BY organization_id) AS r
     ON r.organization_id = o.id
   WHERE b.${column} IS DISTINCT FROM coalesce(r.amount, 0)
   ORDER BY 1`;

export const listWrongKeySpend = statement<SumRow & { key_id: string }>(
  'ledger-list-wrong-key-spend',
  sumsOfKeys('spent_micro_pkr', SPENT),
);
export const listWrongKeyHolds = statement<SumRow & { key_id: string }>(
  'ledger-list-wrong-key-holds',
  sumsOfKeys('held_micro_pkr', HELD),
);
export const listWrongKeyUnsettled = statement<SumRow & { key_id: string }>(
  'ledger-list-wrong-key-unsettled',
  sumsOfKeys('unsettled_micro_pkr', UNSETTLED),
);
export const listWrongSpend = statement<SumRow>(
  'ledger-list-wrong-spend',
  sumsOfOrganizations('spent_micro_pkr', SPENT),
);
export const listWrongHolds = statement<SumRow>(
  'ledger-list-wrong-holds',
  sumsOfOrganizations('held_micro_pkr', HELD),
);
export const listWrongUnsettled = statement<SumRow>(
  'ledger-list-wrong-unsettled',
  sumsOfOrganizations('unsettled_micro_pkr', UNSETTLED),
);
export const listWrongDeposits = statement<SumRow>(
  'ledger-list-wrong-deposits',
  sumsOfOrganizations(
    'deposited_micro_pkr',
    'SELECT organization_id, amount_micro_pkr AS amount FROM deposits',
  ),
);

// The reaper looks every half a minute. A minute is what it has after a deadline.
export const listOverdueHolds = statement<{
  organization_id: string;
  key_id: string;
  holds: bigint;
  amount_micro_pkr: bigint;
  oldest_deadline: string;
}>(
  'ledger-list-overdue-holds',
  `SELECT organization_id, key_id, count(*) AS holds, sum(amount_micro_pkr) AS amount_micro_pkr,
          min(deadline) AS oldest_deadline
   FROM holds WHERE deadline < clock_timestamp() - interval '1 minute'
   GROUP BY organization_id, key_id ORDER BY oldest_deadline, key_id`,
);

// A few of the ids from before they had a time look like one; their version tells.
export const findPartitions = statement<{ has_this_week: boolean; has_next_week: boolean; strays: bigint }>(
  'ledger-find-partitions',
  `SELECT to_regclass(settlement_partition(settlement_week(clock_timestamp()))) IS NOT NULL AS has_this_week,
          to_regclass(settlement_partition(settlement_week(clock_timestamp() + interval '7 days'))) IS NOT NULL
            AS has_next_week,
          (SELECT count(*) FROM settlements_other o JOIN settlement_horizon h ON o.request_id >= h.opened_at
           WHERE substr(o.request_id::text, 15, 1) = '7') AS strays`,
);

// What the service's role must not have, and what it cannot work without.
export const listWrongRights = statement<{ what: string; right: string; is_excess: boolean }>(
  'ledger-list-wrong-rights',
  `WITH money (name) AS (
     SELECT relid::text FROM pg_partition_tree('settlements')
     UNION ALL VALUES ('deposits'), ('settlement_totals'), ('settlement_horizon')
   ), may_change (name, "right") AS (
     VALUES ('settlements', 'INSERT'), ('deposits', 'INSERT')
   )
   SELECT m.name AS what, r.name AS "right", true AS is_excess
   FROM money m CROSS JOIN (VALUES ('INSERT'), ('UPDATE'), ('DELETE'), ('TRUNCATE')) AS r (name)
   WHERE has_table_privilege($1, m.name, r.name) AND (m.name, r.name) NOT IN (SELECT name, "right" FROM may_change)
   UNION ALL
   SELECT name, "right", false FROM may_change WHERE NOT has_table_privilege($1, name, "right")
   UNION ALL
   SELECT name, 'SELECT', false
   FROM unnest(ARRAY['settlements', 'deposits', 'settlement_totals', 'settlement_horizon']) AS name
   WHERE NOT has_table_privilege($1, name, 'SELECT')
   UNION ALL
   SELECT name, 'EXECUTE', false FROM unnest(ARRAY['keep_settlements()', 'fold_settlements()']) AS name
   WHERE NOT has_function_privilege($1, name, 'EXECUTE')
   ORDER BY 3 DESC, 1, 2`,
);
