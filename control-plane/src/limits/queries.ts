import type {
  OrganizationId,
  SpendLimitId,
  SpendMode,
  SpendScopeKind,
  SpendWindow,
  UserId,
} from '@gatehouse/contract';
import { type NoParameters, sql, statement } from '@gatehouse/store';
import { tenantStatement } from '../tenant-statement.ts';

export interface LimitOfOrganization {
  readonly limitId: SpendLimitId;
  readonly organizationId: OrganizationId;
}

/** A limit with its open window. */
export interface LimitRow {
  readonly id: SpendLimitId;
  readonly scopeKind: SpendScopeKind;
  readonly scopeId: string | null;
  /** The project's name, the key's prefix or the member's e-mail; null for the other scopes. */
  readonly scopeName: string | null;
  readonly metadataName: string | null;
  readonly metadataValue: string | null;
  readonly timeWindow: SpendWindow;
  readonly timeZone: string;
  readonly limitMicroPkr: bigint;
  readonly mode: SpendMode;
  readonly alertAt: number[];
  readonly createdById: UserId | null;
  readonly createdByEmail: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly startedAt: string;
  readonly endsAt: string | null;
  readonly spentMicroPkr: bigint;
  readonly heldMicroPkr: bigint;
  /** The values that have a window for themselves, and spent most; null where the limit has one window. */
  readonly values: readonly ValueRow[] | null;
}

/** The amounts of one value of metadata, as digits; null is all values that are not told apart. */
export interface ValueRow {
  readonly value: string | null;
  readonly spent: string;
  readonly held: string;
}

// All of an organisation, or one. A window that has no row yet has seen no request.
export const listLimits = tenantStatement<
  { organizationId: OrganizationId; limitId: SpendLimitId | null },
  LimitRow
>(
  'limits-list',
  sql`
    SELECT l.id, l.scope_kind, l.scope_id, l.metadata_name, l.metadata_value, l.time_window, l.time_zone, l.limit_micro_pkr,
           l.mode, l.alert_at, l.created_at, l.updated_at, u.id AS created_by_id, u.email AS created_by_email,
           CASE l.scope_kind
             WHEN 'project' THEN (SELECT name FROM projects WHERE id = l.scope_id)
             WHEN 'key' THEN (SELECT key_prefix FROM api_keys WHERE id = l.scope_id)
             WHEN 'member' THEN (SELECT email FROM users WHERE id = l.scope_id)
           END AS scope_name,
           c.started_at, CASE WHEN isfinite(c.ends_at) THEN c.ends_at END AS ends_at,
           coalesce(w.spent_micro_pkr, 0) AS spent_micro_pkr, coalesce(w.held_micro_pkr, 0) AS held_micro_pkr,
           CASE WHEN l.scope_kind = 'metadata' AND l.metadata_value IS NULL THEN coalesce(v.list, '[]') END AS values
    FROM spend_limits l
    CROSS JOIN (SELECT clock_timestamp() AS at) AS now
    LEFT JOIN users u ON u.id = l.created_by
    LEFT JOIN LATERAL (
      SELECT * FROM spend_windows o
      WHERE o.limit_id = l.id AND o.value = '' AND o.started_at <= now.at AND o.ends_at > now.at
      ORDER BY o.started_at DESC LIMIT 1
    ) AS w ON true
    CROSS JOIN LATERAL (
      SELECT coalesce(w.started_at, d.started_at) AS started_at, coalesce(w.ends_at, d.ends_at) AS ends_at
      FROM calendar_window(l.time_window, l.time_zone, l.created_at, now.at) AS d
    ) AS c
    LEFT JOIN LATERAL (
      SELECT json_agg(json_build_object('value', substr(nullif(t.value, ''), 2), 'spent', t.spent_micro_pkr::text,
                                        'held', t.held_micro_pkr::text)) AS list
      FROM (
        SELECT * FROM spend_windows o
        WHERE o.limit_id = l.id AND o.started_at = w.started_at AND (o.value <> '' OR o.spent_micro_pkr + o.held_micro_pkr > 0)
        ORDER BY o.spent_micro_pkr DESC, o.held_micro_pkr DESC, o.value LIMIT 100
      ) AS t
    ) AS v ON l.scope_kind = 'metadata' AND l.metadata_value IS NULL
    WHERE l.organization_id = ${'organizationId'} AND (${'limitId'}::uuid IS NULL OR l.id = ${'limitId'})
    ORDER BY l.created_at DESC, l.id`,
);

/** A project, a key that is not revoked, or a member, named by a caller. */
export const findScope = tenantStatement<
  { organizationId: OrganizationId; kind: SpendScopeKind; scopeId: string },
  { id: string }
>(
  'limits-find-scope',
  sql`
    SELECT id FROM projects
    WHERE ${'kind'}::text = 'project' AND id = ${'scopeId'}::uuid AND organization_id = ${'organizationId'}
    UNION ALL
    SELECT id FROM api_keys
    WHERE ${'kind'} = 'key' AND id = ${'scopeId'} AND organization_id = ${'organizationId'} AND revoked_at IS NULL
    UNION ALL
    SELECT id FROM users
    WHERE ${'kind'} = 'member' AND id = ${'scopeId'} AND organization_id = ${'organizationId'}`,
);

export const findTimeZone = statement<{ name: string }, { name: string }>(
  'limits-find-time-zone',
  sql`SELECT coalesce(name, '') AS name FROM pg_timezone_names WHERE lower(name) = lower(${'name'}) LIMIT 1`,
);

// Changes of limits and admissions of the organisation's requests come one after the other.
export const countUnderLock = tenantStatement<{ organizationId: OrganizationId }, { spendLimits: number }>(
  'limits-count-under-lock',
  sql`SELECT spend_limits FROM balances WHERE organization_id = ${'organizationId'} FOR NO KEY UPDATE`,
);

export const changeCount = tenantStatement<{ organizationId: OrganizationId; change: number }>(
  'limits-change-count',
  sql`UPDATE balances SET spend_limits = spend_limits + ${'change'}::integer WHERE organization_id = ${'organizationId'}`,
);

export interface NewLimit {
  readonly organizationId: OrganizationId;
  readonly scopeKind: SpendScopeKind;
  readonly scopeId: string | null;
  readonly metadataName: string | null;
  readonly metadataValue: string | null;
  readonly timeWindow: SpendWindow;
  readonly timeZone: string;
  readonly limitMicroPkr: bigint;
  readonly mode: SpendMode;
  readonly alertAt: readonly number[];
  readonly createdBy: UserId;
}

export const insertLimit = tenantStatement<NewLimit, { id: SpendLimitId }>(
  'limits-insert',
  sql`
    INSERT INTO spend_limits (organization_id, scope_kind, scope_id, metadata_name, metadata_value, time_window, time_zone,
                              limit_micro_pkr, mode, alert_at, created_by, created_at, updated_at)
    SELECT ${'organizationId'}, ${'scopeKind'}, ${'scopeId'}::uuid, ${'metadataName'}, ${'metadataValue'}, ${'timeWindow'},
           ${'timeZone'}, ${'limitMicroPkr'}, ${'mode'}, ${'alertAt'}, ${'createdBy'}::uuid, now.at, now.at
    FROM (SELECT clock_timestamp() AS at) AS now
    RETURNING id`,
);

// What is null stays as it is.
export const updateLimit = tenantStatement<
  LimitOfOrganization & {
    limitMicroPkr: bigint | null;
    mode: SpendMode | null;
    alertAt: readonly number[] | null;
  },
  { id: SpendLimitId }
>(
  'limits-update',
  sql`
    UPDATE spend_limits
    SET limit_micro_pkr = coalesce(${'limitMicroPkr'}, limit_micro_pkr), mode = coalesce(${'mode'}, mode),
        alert_at = coalesce(${'alertAt'}, alert_at), updated_at = clock_timestamp()
    WHERE id = ${'limitId'} AND organization_id = ${'organizationId'}
    RETURNING id`,
);

// The thresholds of the changed limit hold for what is open. Of a raised amount, those that are above what is spent are told again.
export const planAlerts = tenantStatement<LimitOfOrganization>(
  'limits-plan-alerts',
  sql`
    UPDATE spend_windows w
    SET alerted_percent = p.alerted, refused_at = NULL, next_alert_micro_pkr = next_spend_alert(l.limit_micro_pkr, l.alert_at, p.alerted)
    FROM spend_limits l, LATERAL (
      SELECT s.id, CASE WHEN l.limit_micro_pkr > 0
                     THEN least(s.alerted_percent, trunc(s.spent_micro_pkr::numeric * 100 / l.limit_micro_pkr))::integer
                     ELSE s.alerted_percent END AS alerted
      FROM spend_windows s WHERE s.limit_id = l.id AND s.ends_at > clock_timestamp()
    ) AS p
    WHERE l.id = ${'limitId'} AND l.organization_id = ${'organizationId'} AND w.id = p.id`,
);

export const deleteLimit = tenantStatement<LimitOfOrganization>(
  'limits-delete',
  sql`DELETE FROM spend_limits WHERE id = ${'limitId'} AND organization_id = ${'organizationId'}`,
);

// A day after its end no request of a window is in flight, and what is settled later binds nothing.
export const deleteEndedWindows = statement<NoParameters>(
  'limits-delete-ended-windows',
  sql`DELETE FROM spend_windows WHERE ends_at < clock_timestamp() - interval '1 day'`,
);
