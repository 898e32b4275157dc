import type { ActivityAction, OrganizationId, UserId } from '@gatehouse/contract';
import { sql, statement } from '@gatehouse/store';
import { tenantStatement } from '../tenant-statement.ts';

// The only statement that writes an entry. The database's function append_activity says what it does.
export const appendEvent = tenantStatement<{
  organizationId: OrganizationId;
  actorUserId: UserId | null;
  action: ActivityAction;
  target: string;
  sourceIp: string;
}>(
  'activity-append-event',
  sql`SELECT append_activity(${'organizationId'}, ${'actorUserId'}, ${'action'}, ${'target'}, ${'sourceIp'})`,
);

interface EventRow {
  readonly actor: string | null;
  readonly action: ActivityAction;
  readonly target: string;
  readonly occurredAt: string;
  readonly sourceIp: string;
}

interface Page {
  readonly organizationId: OrganizationId;
  /** Null: of any kind. */
  readonly action: ActivityAction | null;
  /** An email in lower case. Null: of anyone. */
  readonly actor: string | null;
  readonly limit: number;
  readonly offset: number;
}

// An email that no account has must match no entry, not those without an actor.
const PASSES = sql`(${'action'}::text IS NULL OR e.action = ${'action'})
     AND (${'actor'}::text IS NULL OR e.actor_user_id = (SELECT a.id FROM users a WHERE a.email = ${'actor'}))`;

const EVENT = sql`u.email AS actor, e.action, left(e.target, 4096) AS target, e.occurred_at, e.source_ip`;

export const listEvents = tenantStatement<Page, EventRow>(
  'activity-list-events',
  sql`SELECT ${EVENT}
   FROM activity_events e LEFT JOIN users u ON u.id = e.actor_user_id
   WHERE e.organization_id = ${'organizationId'} AND ${PASSES}
   ORDER BY e.sequence DESC
   LIMIT ${'limit'} OFFSET ${'offset'}`,
);

// The time selects a sequence number, and the numbers decide from there: a clock that was set back opens no gap.
export const listEventsUntil = tenantStatement<Page & { until: string }, EventRow>(
  'activity-list-events-until',
  sql`SELECT ${EVENT}
   FROM activity_events e LEFT JOIN users u ON u.id = e.actor_user_id
   WHERE e.organization_id = ${'organizationId'} AND ${PASSES}
     AND e.sequence <= (SELECT last.sequence FROM activity_events last
                        WHERE last.organization_id = ${'organizationId'} AND last.occurred_at <= ${'until'}::timestamptz
                        ORDER BY last.sequence DESC LIMIT 1)
   ORDER BY e.sequence DESC
   LIMIT ${'limit'} OFFSET ${'offset'}`,
);

// The statements below read a database that may have been tampered with: any row may be missing, and any constraint.

/** An organisation and the head of its log. */
export interface LogRow {
  readonly organizationId: OrganizationId;
  /** Null when the organisation is gone. */
  readonly name: string | null;
  readonly lastSequence: bigint | null;
  readonly lastHash: Buffer | null;
  /** In digits of microseconds since 1970, if it is a time. */
  readonly lastOccurredAtMicros: string | null;
  readonly retentionDays: number;
}

// Every organisation that any table of the log names. Those of the entries are found by index jumps, one for each.
export const listLogs = statement<{ organizationId: OrganizationId | null }, LogRow>(
  'activity-list-logs',
  sql`WITH RECURSIVE jump AS (
     (SELECT organization_id FROM activity_events ORDER BY organization_id LIMIT 1)
     UNION ALL
     SELECT (SELECT e.organization_id FROM activity_events e WHERE e.organization_id > jump.organization_id
             ORDER BY e.organization_id LIMIT 1)
     FROM jump WHERE jump.organization_id IS NOT NULL
   ), known AS (
     SELECT id FROM organizations
     UNION SELECT organization_id FROM activity_heads
     UNION SELECT organization_id FROM activity_checkpoints
     UNION SELECT organization_id FROM jump WHERE organization_id IS NOT NULL
   )
   SELECT known.id AS organization_id, o.name, h.last_sequence, h.last_hash,
          trunc(extract(epoch FROM h.last_occurred_at) * 1000000)::text AS last_occurred_at_micros,
          coalesce(o.activity_retention_days, 365) AS retention_days
   FROM known
   LEFT JOIN organizations o ON o.id = known.id
   LEFT JOIN activity_heads h ON h.organization_id = known.id
   WHERE ${'organizationId'}::uuid IS NULL OR known.id = ${'organizationId'}
   ORDER BY o.created_at, 1`,
);

export interface CheckpointRow {
  readonly throughSequence: bigint;
  readonly hash: Buffer | null;
  /** True if the newest removed entry was at least a day old, which is the shortest retention. */
  readonly isPlausible: boolean | null;
}

export const findCheckpoint = tenantStatement<{ organizationId: OrganizationId }, CheckpointRow>(
  'activity-find-checkpoint',
  sql`SELECT through_sequence, hash,
          through_occurred_at <= least(created_at, clock_timestamp()) - interval '1 day' AS is_plausible
   FROM activity_checkpoints
   WHERE organization_id = ${'organizationId'} ORDER BY through_sequence DESC LIMIT 1`,
);

export interface EntryRow {
  /** The row's physical position. It distinguishes two rows with one number. */
  readonly tupleId: string;
  readonly organizationId: OrganizationId;
  readonly sequence: bigint | null;
  readonly actorUserId: string | null;
  readonly action: string | null;
  readonly target: string | null;
  readonly sourceIp: string | null;
  readonly occurredAtMicros: string | null;
  readonly hash: Buffer | null;
}

// A text longer than any that the service writes counts as missing, and is not fetched.
export const listEntries = tenantStatement<
  { organizationId: OrganizationId; sequence: bigint; tupleId: string | null },
  EntryRow
>(
  'activity-list-entries',
  sql`SELECT ctid::text AS tuple_id, organization_id, sequence, actor_user_id,
          CASE WHEN octet_length(action) <= 100 THEN action END AS action,
          CASE WHEN octet_length(target) <= 4096 THEN target END AS target,
          CASE WHEN octet_length(source_ip) <= 100 THEN source_ip END AS source_ip,
          CASE WHEN octet_length(hash) <= 100 THEN hash END AS hash,
          trunc(extract(epoch FROM occurred_at) * 1000000)::text AS occurred_at_micros
   FROM activity_events
   WHERE organization_id = ${'organizationId'} AND sequence >= ${'sequence'}
     AND (${'tupleId'}::tid IS NULL OR (sequence, ctid) > (${'sequence'}, ${'tupleId'}::tid))
   ORDER BY sequence, ctid LIMIT 1000`,
);

export const countUnnumbered = tenantStatement<{ organizationId: OrganizationId }, { count: bigint }>(
  'activity-count-unnumbered',
  sql`SELECT count(*) AS count FROM activity_events
   WHERE organization_id = ${'organizationId'} AND sequence IS NULL`,
);

// The oldest entry decides, because entries are removed from that end only.
export const listOverdueLogs = statement<
  { organizationId: OrganizationId | null },
  { id: OrganizationId; name: string }
>(
  'activity-list-overdue-logs',
  sql`SELECT o.id, o.name FROM organizations o
   CROSS JOIN LATERAL (SELECT e.occurred_at FROM activity_events e WHERE e.organization_id = o.id
                       ORDER BY e.sequence LIMIT 1) oldest
   WHERE (${'organizationId'}::uuid IS NULL OR o.id = ${'organizationId'})
     AND oldest.occurred_at < clock_timestamp() - make_interval(days => coalesce(o.activity_retention_days, 365))
   ORDER BY o.created_at, o.id`,
);

export const purgeEvents = tenantStatement<
  { organizationId: OrganizationId; atMost: number },
  { removed: bigint; brokenSequence: bigint | null }
>(
  'activity-purge-events',
  sql`SELECT removed, broken_sequence FROM purge_activity(${'organizationId'}, ${'atMost'})`,
);
