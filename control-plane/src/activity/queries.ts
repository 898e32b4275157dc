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
  `SELECT u.email AS actor, e.action, e.target, e.occurred_at, e.source_ip
   FROM activity_events e LEFT JOIN users u ON u.id = e.actor_user_id
   WHERE e.organization_id = $1
   ORDER BY e.sequence DESC
   LIMIT $2 OFFSET $3`,
);

// The time names a place in the log, and from there on the numbers decide: a clock that was set back cannot open a gap.
export const listEventsUntil = statement<NonNullable<(typeof listEvents)['row']>>(
  'activity-list-events-until',
  `SELECT u.email AS actor, e.action, e.target, e.occurred_at, e.source_ip
   FROM activity_events e LEFT JOIN users u ON u.id = e.actor_user_id
   WHERE e.organization_id = $1
     AND e.sequence <= (SELECT last.sequence FROM activity_events last
                        WHERE last.organization_id = $1 AND last.occurred_at <= $4::timestamptz
                        ORDER BY last.sequence DESC LIMIT 1)
   ORDER BY e.sequence DESC
   LIMIT $2 OFFSET $3`,
);

/** An organisation and its head; either may be gone from a database that was tampered with. */
export interface LogRow {
  readonly organization_id: string;
  readonly name: string | null;
  readonly last_sequence: bigint | null;
  readonly last_hash: Buffer | null;
}

export const listLogs = statement<LogRow>(
  'activity-list-logs',
  `SELECT coalesce(o.id, h.organization_id) AS organization_id, o.name, h.last_sequence, h.last_hash
   FROM organizations o FULL JOIN activity_heads h ON h.organization_id = o.id
   WHERE $1::uuid IS NULL OR coalesce(o.id, h.organization_id) = $1
   ORDER BY o.created_at, 1`,
);

export const findCheckpoint = statement<{ through_sequence: bigint; hash: Buffer }>(
  'activity-find-checkpoint',
  `SELECT through_sequence, hash FROM activity_checkpoints
   WHERE organization_id = $1 ORDER BY through_sequence DESC LIMIT 1`,
);

export interface EntryRow {
  readonly organization_id: string;
  readonly sequence: bigint;
  readonly actor_user_id: string | null;
  readonly action: string;
  readonly target: string;
  readonly source_ip: string;
  /** Digits, or the word that PostgreSQL has for a time without end. */
  readonly occurred_at_micros: string;
  readonly hash: Buffer;
}

export const listEntries = statement<EntryRow>(
  'activity-list-entries',
  `SELECT organization_id, sequence, actor_user_id, action, target, source_ip, hash,
          trunc(extract(epoch FROM occurred_at) * 1000000)::text AS occurred_at_micros
   FROM activity_events
   WHERE organization_id = $1 AND ($2::bigint IS NULL OR sequence > $2)
   ORDER BY sequence LIMIT 1000`,
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
