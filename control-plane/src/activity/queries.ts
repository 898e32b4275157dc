import type { ActivityAction } from '@gatehouse/contract';
import { statement } from '@gatehouse/store';

// The one way to write an entry; what it does is in the schema (0006-activity-chain.sql).
export const appendEvent = statement('activity-append-event', 'SELECT append_activity($1, $2, $3, $4, $5)');

export const listEvents = statement<{
  actor: string | null;
  action: ActivityAction;
  target: string;
  occurred_at: string;
  source_ip: string;
}>(
  'activity-list-events',
  `SELECT u.email AS actor, e.action, left(e.target, 4096) AS target, e.occurred_at, e.source_ip
   FROM activity_events e LEFT JOIN users u ON u.id = e.actor_user_id
   WHERE e.organization_id = $1
   ORDER BY e.sequence DESC
   LIMIT $2 OFFSET $3`,
);

// The time names a place in the log, and from there on the numbers decide: a clock that was set back cannot open a gap.
export const listEventsUntil = statement<NonNullable<(typeof listEvents)['row']>>(
  'activity-list-events-until',
  `SELECT u.email AS actor, e.action, left(e.target, 4096) AS target, e.occurred_at, e.source_ip
   FROM activity_events e LEFT JOIN users u ON u.id = e.actor_user_id
   WHERE e.organization_id = $1
     AND e.sequence <= (SELECT last.sequence FROM activity_events last
                        WHERE last.organization_id = $1 AND last.occurred_at <= $4::timestamptz
                        ORDER BY last.sequence DESC LIMIT 1)
   ORDER BY e.sequence DESC
   LIMIT $2 OFFSET $3`,
);

// What follows looks at a database that was tampered with, perhaps: any row may be gone, and any rule with it.

/** An organisation and the head of its log. */
export interface LogRow {
  readonly organization_id: string;
  /** Null when the organisation is gone. */
  readonly name: string | null;
  readonly last_sequence: bigint | null;
  readonly last_hash: Buffer | null;
  /** In digits of microseconds since 1970, if it is a time. */
  readonly last_occurred_at_micros: string | null;
  readonly retention_days: number;
}

// Every organisation that anything speaks of. Those of the entries are found by leaping from one to the next.
export const listLogs = statement<LogRow>(
  'activity-list-logs',
  `WITH RECURSIVE leap AS (
     (SELECT organization_id FROM activity_events ORDER BY organization_id LIMIT 1)
     UNION ALL
     SELECT (SELECT e.organization_id FROM activity_events e WHERE e.organization_id > leap.organization_id
             ORDER BY e.organization_id LIMIT 1)
     FROM leap WHERE leap.organization_id IS NOT NULL
   ), known AS (
     SELECT id FROM organizations
     UNION SELECT organization_id FROM activity_heads
     UNION SELECT organization_id FROM activity_checkpoints
     UNION SELECT organization_id FROM leap WHERE organization_id IS NOT NULL
   )
   SELECT known.id AS organization_id, o.name, h.last_sequence, h.last_hash,
          trunc(extract(epoch FROM h.last_occurred_at) * 1000000)::text AS last_occurred_at_micros,
          coalesce(o.activity_retention_days, 365) AS retention_days
   FROM known
   LEFT JOIN organizations o ON o.id = known.id
   LEFT JOIN activity_heads h ON h.organization_id = known.id
   WHERE $1::uuid IS NULL OR known.id = $1
   ORDER BY o.created_at, 1`,
);

export interface CheckpointRow {
  readonly through_sequence: bigint;
  readonly hash: Buffer | null;
  /** Whether the newest entry that went was a day old at least, which is the shortest retention there is. */
  readonly is_plausible: boolean | null;
}

export const findCheckpoint = statement<CheckpointRow>(
  'activity-find-checkpoint',
  `SELECT through_sequence, hash,
          through_occurred_at <= least(created_at, clock_timestamp()) - interval '1 day' AS is_plausible
   FROM activity_checkpoints
   WHERE organization_id = $1 ORDER BY through_sequence DESC LIMIT 1`,
);

export interface EntryRow {
  /** Where the row lies: tells apart two that have one number. */
  readonly place: string;
  readonly organization_id: string;
  readonly sequence: bigint | null;
  readonly actor_user_id: string | null;
  readonly action: string | null;
  readonly target: string | null;
  readonly source_ip: string | null;
  readonly occurred_at_micros: string | null;
  readonly hash: Buffer | null;
}

// A text that is longer than any that was ever written is as good as none, and is not fetched.
export const listEntries = statement<EntryRow>(
  'activity-list-entries',
  `SELECT ctid::text AS place, organization_id, sequence, actor_user_id,
          CASE WHEN octet_length(action) <= 100 THEN action END AS action,
          CASE WHEN octet_length(target) <= 4096 THEN target END AS target,
          CASE WHEN octet_length(source_ip) <= 100 THEN source_ip END AS source_ip,
          CASE WHEN octet_length(hash) <= 100 THEN hash END AS hash,
          trunc(extract(epoch FROM occurred_at) * 1000000)::text AS occurred_at_micros
   FROM activity_events
   WHERE organization_id = $1 AND sequence >= $2
     AND ($3::tid IS NULL OR (sequence, ctid) > ($2, $3::tid))
   ORDER BY sequence, ctid LIMIT 1000`,
);

export const countUnnumbered = statement<{ count: bigint }>(
  'activity-count-unnumbered',
  `SELECT count(*) AS count FROM activity_events WHERE organization_id = $1 AND sequence IS NULL`,
);

// The oldest entry decides: they are removed from that end only.
export const listOverdueLogs = statement<{ id: string; name: string }>(
  'activity-list-overdue-logs',
  `SELECT o.id, o.name FROM organizations o
   CROSS JOIN LATERAL (SELECT e.occurred_at FROM activity_events e WHERE e.organization_id = o.id
                       ORDER BY e.sequence LIMIT 1) oldest
   WHERE ($1::uuid IS NULL OR o.id = $1)
     AND oldest.occurred_at < clock_timestamp() - make_interval(days => coalesce(o.activity_retention_days, 365))
   ORDER BY o.created_at, o.id`,
);

export const purgeEvents = statement<{ removed: bigint; broken_sequence: bigint | null }>(
  'activity-purge-events',
  'SELECT removed, broken_sequence FROM purge_activity($1, $2)',
);
