import type { ActivityAction } from '@gatehouse/contract';
import { statement } from '@gatehouse/store';

// The head row is what orders the entries of one organisation: whoever updates it holds it until the commit.
export const insertEvent = statement(
  'activity-insert-event',
  `WITH head AS (
     INSERT INTO activity_heads (organization_id, last_sequence) VALUES ($1, 1)
     ON CONFLICT (organization_id) DO UPDATE SET last_sequence = activity_heads.last_sequence + 1
     RETURNING last_sequence
   )
   INSERT INTO activity_events (organization_id, sequence, actor_user_id, action, target, source_ip)
   SELECT $1, last_sequence, $2, $3, $4, $5 FROM head`,
);

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
