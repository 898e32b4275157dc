import {
  type KeyId,
  type ProviderProtocol,
  providerFlags,
  type SpendScopeKind,
  type SpendWindow,
  type StatedProviderFlags,
  type Surface,
} from '@gatehouse/contract';
import { type Queryable, sql, statement } from '@gatehouse/store';

/** A name that callers can send as a model: the id of a route, or one of its aliases. */
export interface NameRow {
  readonly name: string;
  readonly routeId: string;
  readonly provider: string;
  readonly protocol: ProviderProtocol;
  readonly flags: StatedProviderFlags;
  readonly endpoints: readonly string[];
  readonly maxInputTokens: bigint | null;
  readonly maxOutputTokens: bigint;
  readonly updatedAtSeconds: bigint;
}

/** The page of names to return, in the order of their characters. */
export interface NamePage {
  readonly limit: number;
  /** Only those after this name. */
  readonly after?: string | undefined;
  /** Only those before this name. Without `after`, the nearest ones to it. */
  readonly before?: string | undefined;
}

// No name is both an alias and the id of an active route.
export const listModelNamesStatement = statement<
  {
    allowedModels: readonly string[] | null;
    name: string | null;
    after: string | null;
    before: string | null;
    isBackward: boolean;
    limit: number;
  },
  NameRow
>(
  'gateway-list-model-names',
  sql`
    SELECT n.name, r.id AS route_id, p.name AS provider, p.protocol, p.flags, r.endpoints, r.max_input_tokens,
           r.max_output_tokens, extract(epoch FROM date_trunc('second', r.updated_at))::bigint AS updated_at_seconds
    FROM (SELECT id COLLATE "C" AS name, id AS route_id FROM routes
          UNION ALL SELECT alias COLLATE "C", route_id FROM route_aliases) AS n
    JOIN routes r ON r.id = n.route_id
    JOIN route_targets t ON t.route_id = r.id AND t.position = 0
    JOIN providers p ON p.name = t.provider
    WHERE r.is_active
      AND (${'allowedModels'}::text[] IS NULL OR r.id = ANY (${'allowedModels'}))
      AND (${'name'}::text IS NULL OR n.name = ${'name'})
      AND (${'after'}::text IS NULL OR n.name > ${'after'})
      AND (${'before'}::text IS NULL OR n.name < ${'before'})
    ORDER BY CASE WHEN NOT ${'isBackward'} THEN n.name END, n.name DESC
    LIMIT ${'limit'}`,
);

/** Names of active routes; of a key with a list of models, of those on the list. */
export async function listModelNames(
  database: Queryable,
  allowedModels: readonly string[] | null,
  { limit, after, before }: NamePage,
): Promise<NameRow[]> {
  const isBackward = before !== undefined && after === undefined;
  const rows = await database.many(listModelNamesStatement, {
    allowedModels,
    name: null,
    after: after ?? null,
    before: before ?? null,
    isBackward,
    limit,
  });
  return isBackward ? rows.reverse() : rows;
}

/** The name, where the key may use its route. */
export function findModelName(
  database: Queryable,
  allowedModels: readonly string[] | null,
  name: string,
): Promise<NameRow | undefined> {
  const all = { after: null, before: null, isBackward: false, limit: 1 };
  return database.one(listModelNamesStatement, { allowedModels, name, ...all });
}

/** The surfaces of the route's provider. */
export function surfacesOf({ protocol, flags }: NameRow): ReadonlySet<Surface> {
  return new Set(Object.keys(providerFlags(protocol, flags).surfaces) as Surface[]);
}

/** The limits of a key, and where it stands. */
export interface KeyStandingRow {
  readonly expiresAt: string | null;
  readonly limitMicroPkr: bigint | null;
  /** Includes what finished requests cost, settled or not, as admission counts it. */
  readonly spentMicroPkr: bigint;
  /** By requests in flight. */
  readonly heldMicroPkr: bigint;
}

export const findKeyStandingStatement = statement<{ keyId: KeyId }, KeyStandingRow>(
  'gateway-find-key-standing',
  sql`
    SELECT expires_at, credit_limit_micro_pkr AS limit_micro_pkr,
           spent_micro_pkr + unsettled_micro_pkr AS spent_micro_pkr,
           held_micro_pkr - unsettled_micro_pkr AS held_micro_pkr
    FROM api_keys WHERE id = ${'keyId'} AND revoked_at IS NULL`,
);

/** A spend limit that binds every request of a key, with its open window. */
export interface KeyLimitRow {
  readonly id: string;
  readonly scopeKind: Exclude<SpendScopeKind, 'metadata'>;
  readonly scopeId: string | null;
  readonly timeWindow: SpendWindow;
  readonly limitMicroPkr: bigint;
  readonly spentMicroPkr: bigint;
  readonly heldMicroPkr: bigint;
  readonly endsAt: string | null;
}

// Limits of metadata bind requests, whatever their key. A limit that only alerts binds nothing.
export const listKeyLimitsStatement = statement<{ keyId: KeyId }, KeyLimitRow>(
  'gateway-list-key-limits',
  sql`
    SELECT l.id, l.scope_kind, l.scope_id, l.time_window, l.limit_micro_pkr,
           coalesce(w.spent_micro_pkr, 0) AS spent_micro_pkr, coalesce(w.held_micro_pkr, 0) AS held_micro_pkr,
           CASE WHEN isfinite(c.ends_at) THEN c.ends_at END AS ends_at
    FROM api_keys k
    JOIN spend_limits l ON l.organization_id = k.organization_id AND l.mode = 'refuse' AND CASE l.scope_kind
      WHEN 'organization' THEN true
      WHEN 'project' THEN l.scope_id = k.project_id
      WHEN 'key' THEN l.scope_id = k.id
      WHEN 'member' THEN l.scope_id = k.created_by
    END
    CROSS JOIN (SELECT clock_timestamp() AS at) AS now
    LEFT JOIN LATERAL (
      SELECT * FROM spend_windows o
      WHERE o.limit_id = l.id AND o.value = '' AND o.started_at <= now.at AND o.ends_at > now.at
      ORDER BY o.started_at DESC LIMIT 1
    ) AS w ON true
    CROSS JOIN LATERAL (
      SELECT coalesce(w.ends_at, d.ends_at) AS ends_at
      FROM calendar_window(l.time_window, l.time_zone, l.created_at, now.at) AS d
    ) AS c
    WHERE k.id = ${'keyId'}
    ORDER BY l.created_at, l.id`,
);

export function listKeyLimits(database: Queryable, keyId: KeyId): Promise<KeyLimitRow[]> {
  return database.many(listKeyLimitsStatement, { keyId });
}

export function findKeyStanding(database: Queryable, keyId: KeyId): Promise<KeyStandingRow | undefined> {
  return database.one(findKeyStandingStatement, { keyId });
}
