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
