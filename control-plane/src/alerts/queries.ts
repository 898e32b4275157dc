import type { AlertChannelId, AlertDeliveryId, AlertType, OrganizationId, UserId } from '@gatehouse/contract';
import { type NoParameters, sql, statement } from '@gatehouse/store';
import { tenantStatement } from '../tenant-statement.ts';

export type ChannelKind = 'webhook' | 'email';

export interface ChannelRow {
  readonly id: AlertChannelId;
  readonly kind: ChannelKind;
  /** The URL of a webhook, or an address. */
  readonly destination: string;
  readonly createdById: UserId | null;
  readonly createdByEmail: string | null;
  readonly createdAt: string;
}

export interface ChannelOfOrganization {
  readonly organizationId: OrganizationId;
  readonly channelId: AlertChannelId;
}

// All of an organisation, or one.
export const listChannels = tenantStatement<
  { organizationId: OrganizationId; channelId: AlertChannelId | null },
  ChannelRow
>(
  'alerts-list-channels',
  sql`
    SELECT c.id, c.kind, c.destination, u.id AS created_by_id, u.email AS created_by_email, c.created_at
    FROM alert_channels c LEFT JOIN users u ON u.id = c.created_by
    WHERE c.organization_id = ${'organizationId'} AND (${'channelId'}::uuid IS NULL OR c.id = ${'channelId'})
    ORDER BY c.created_at DESC, c.id`,
);

// Channels are added, and tests are sent, one after the other.
export const lockBalance = tenantStatement<{ organizationId: OrganizationId }>(
  'alerts-lock-balance',
  sql`SELECT FROM balances WHERE organization_id = ${'organizationId'} FOR NO KEY UPDATE`,
);

export const countChannels = tenantStatement<{ organizationId: OrganizationId }, { channels: bigint }>(
  'alerts-count-channels',
  sql`SELECT count(*) AS channels FROM alert_channels WHERE organization_id = ${'organizationId'}`,
);

export interface NewChannel extends ChannelOfOrganization {
  readonly kind: ChannelKind;
  readonly destination: string;
  readonly version: bigint | null;
  readonly sealedKey: Buffer | null;
  readonly wrappedKey: Buffer | null;
  readonly masterKeyId: string | null;
  readonly createdBy: UserId;
}

export const insertChannel = tenantStatement<NewChannel>(
  'alerts-insert-channel',
  sql`
    INSERT INTO alert_channels (id, organization_id, kind, destination, version, sealed_key, wrapped_key, master_key_id, created_by)
    VALUES (${'channelId'}, ${'organizationId'}, ${'kind'}, ${'destination'}, ${'version'}, ${'sealedKey'}, ${'wrappedKey'},
            ${'masterKeyId'}, ${'createdBy'})`,
);

export const deleteChannel = tenantStatement<ChannelOfOrganization>(
  'alerts-delete-channel',
  sql`DELETE FROM alert_channels WHERE id = ${'channelId'} AND organization_id = ${'organizationId'}`,
);

export const countTests = tenantStatement<{ organizationId: OrganizationId }, { tests: bigint }>(
  'alerts-count-tests',
  sql`
    SELECT count(*) AS tests FROM alert_deliveries
    WHERE organization_id = ${'organizationId'} AND type = 'alert.test' AND created_at > clock_timestamp() - interval '10 minutes'`,
);

export const insertTest = tenantStatement<ChannelOfOrganization, { id: AlertDeliveryId }>(
  'alerts-insert-test',
  sql`
    INSERT INTO alert_deliveries (channel_id, organization_id, type, data)
    VALUES (${'channelId'}, ${'organizationId'}, 'alert.test', '{}')
    RETURNING id`,
);

export interface DeliveryRow {
  readonly id: AlertDeliveryId;
  readonly channelId: AlertChannelId;
  readonly type: AlertType;
  readonly createdAt: string;
  readonly status: 'pending' | 'delivered' | 'failed';
  readonly attempts: number;
  readonly lastError: string | null;
}

export const listDeliveries = tenantStatement<
  { organizationId: OrganizationId; limit: number; offset: number },
  DeliveryRow
>(
  'alerts-list-deliveries',
  sql`
    SELECT id, channel_id, type, created_at, status, attempts, last_error FROM alert_deliveries
    WHERE organization_id = ${'organizationId'}
    ORDER BY created_at DESC, id LIMIT ${'limit'} OFFSET ${'offset'}`,
);

export const alertOfExpiries = statement<{ most: number }, { keys: number }>(
  'alerts-of-expiries',
  sql`SELECT coalesce(alert_of_expiries(${'most'}), 0) AS keys`,
);

// A pending delivery ends within a day (deliver.ts).
export const deleteOldDeliveries = statement<NoParameters>(
  'alerts-delete-old-deliveries',
  sql`DELETE FROM alert_deliveries WHERE status <> 'pending' AND created_at < clock_timestamp() - interval '7 days'`,
);

/** A delivery that is to be attempted now, with everything that takes. */
export interface DueRow {
  readonly id: AlertDeliveryId;
  readonly organizationId: OrganizationId;
  readonly organizationName: string;
  readonly channelId: AlertChannelId;
  readonly kind: ChannelKind;
  readonly destination: string;
  readonly version: bigint | null;
  readonly sealedKey: Buffer | null;
  readonly wrappedKey: Buffer | null;
  readonly masterKeyId: string | null;
  readonly type: AlertType;
  readonly data: unknown;
  readonly createdAt: string;
  /** With the one that begins. */
  readonly attempts: number;
}

/*
 * Claims deliveries that are due, for as long as an attempt may take: if this process ends before it has told how the attempt went, they
 * are due again. Those of the organisations come in turn, so that many of one do not keep the others waiting, and its cost follows the
 * number of organisations and not of deliveries.
 */
export const claimDue = statement<
  {
    most: number;
    mostOfOrganization: number;
    busyOrganizationIds: readonly OrganizationId[];
    leaseSeconds: number;
  },
  DueRow
>(
  'alerts-claim-due',
  sql`
    WITH RECURSIVE waiting AS (
      (SELECT organization_id FROM alert_deliveries WHERE status = 'pending' ORDER BY organization_id LIMIT 1)
      UNION ALL
      SELECT next.organization_id FROM waiting w CROSS JOIN LATERAL (
        SELECT d.organization_id FROM alert_deliveries d
        WHERE d.status = 'pending' AND d.organization_id > w.organization_id ORDER BY d.organization_id LIMIT 1
      ) AS next
    ), due AS MATERIALIZED (
      SELECT first.id
      FROM waiting w CROSS JOIN LATERAL (
        SELECT d.id, d.due_at, row_number() OVER (ORDER BY d.due_at, d.id) AS nth FROM (
          SELECT e.id, e.due_at FROM alert_deliveries e
          WHERE e.status = 'pending' AND e.organization_id = w.organization_id AND e.due_at <= clock_timestamp()
          ORDER BY e.due_at, e.id LIMIT ${'mostOfOrganization'}
        ) AS d
      ) AS first
      WHERE w.organization_id <> ALL (${'busyOrganizationIds'}::uuid[])
      ORDER BY first.nth, first.due_at LIMIT ${'most'}
    ), claimed AS MATERIALIZED (
      SELECT d.id FROM alert_deliveries d
      WHERE d.id IN (SELECT id FROM due) AND d.status = 'pending' AND d.due_at <= clock_timestamp()
      FOR NO KEY UPDATE OF d SKIP LOCKED
    )
    UPDATE alert_deliveries d
    SET attempts = d.attempts + 1, due_at = clock_timestamp() + ${'leaseSeconds'} * interval '1 second'
    FROM claimed, alert_channels c, organizations o
    WHERE d.id = claimed.id AND c.id = d.channel_id AND o.id = d.organization_id
    RETURNING d.id, d.organization_id, o.name AS organization_name, d.channel_id, c.kind, c.destination, c.version, c.sealed_key,
              c.wrapped_key, c.master_key_id, d.type, d.data, d.created_at, d.attempts`,
);

export const markDelivered = tenantStatement<{ organizationId: OrganizationId; deliveryId: AlertDeliveryId }>(
  'alerts-mark-delivered',
  sql`
    UPDATE alert_deliveries SET status = 'delivered', last_error = NULL
    WHERE id = ${'deliveryId'} AND organization_id = ${'organizationId'}`,
);

// Retried until it would be more than a day old.
export const markAttemptFailed = tenantStatement<
  { organizationId: OrganizationId; deliveryId: AlertDeliveryId; retrySeconds: number; error: string },
  { status: string }
>(
  'alerts-mark-attempt-failed',
  sql`
    UPDATE alert_deliveries
    SET last_error = ${'error'}, due_at = clock_timestamp() + ${'retrySeconds'} * interval '1 second',
        status = CASE WHEN clock_timestamp() + ${'retrySeconds'} * interval '1 second' > created_at + interval '24 hours'
                   THEN 'failed' ELSE 'pending' END
    WHERE id = ${'deliveryId'} AND organization_id = ${'organizationId'} AND status = 'pending'
    RETURNING status`,
);
