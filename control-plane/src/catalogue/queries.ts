import type { GatewayEndpoint, MemberRule, ProviderProtocol, StatedProviderFlags } from '@gatehouse/contract';
import {
  type NoParameters,
  ROUTE_SETTING_COLUMNS,
  ROUTE_SETTINGS_DOCUMENT,
  ROUTE_SETTINGS_EXCLUDED,
  sql,
  statement,
} from '@gatehouse/store';
import type { RouteSettings } from './route-settings.ts';
import type { StoredCredential, StoredTarget } from './stored-targets.ts';

// In the order of the catalogue. An empty list where there is none.
const TARGETS = sql`(
  SELECT coalesce(json_agg(json_build_object(
    'provider', t.provider, 'upstreamModel', t.upstream_model, 'input', t.input_micro_pkr_per_million,
    'output', t.output_micro_pkr_per_million, 'cacheWrite', t.cache_write_micro_pkr_per_million,
    'cacheRead', t.cache_read_micro_pkr_per_million, 'cacheWrite1h', t.cache_write_1h_micro_pkr_per_million,
    'priceTiers', t.price_tiers, 'pricePerCall', t.price_per_call, 'byokFeeMillionths', t.byok_fee_millionths,
    'priority', t.priority, 'weight', t.weight) ORDER BY t.position), '[]')
  FROM route_targets t WHERE t.route_id = r.id) AS targets`;
const CREDENTIALS = sql`(
  SELECT coalesce(json_agg(json_build_object('name', c.name, 'apiKeyEnv', c.api_key_env, 'weight', c.weight)
                           ORDER BY c.position), '[]')
  FROM provider_credentials c WHERE c.provider = p.name) AS credentials`;

// Ordered by bytes, as routes are.
const ALIASES = sql`ARRAY(
  SELECT a.alias FROM route_aliases a WHERE a.route_id = r.id ORDER BY a.alias COLLATE "C") AS aliases`;

const BYOK_PROVIDERS = sql`ARRAY(
  SELECT t.provider FROM route_targets t
  WHERE t.route_id = r.id AND EXISTS (SELECT FROM provider_credentials c WHERE c.provider = t.provider)
  GROUP BY t.provider ORDER BY min(t.position)) AS byok_providers`;

// Ordered by bytes, independent of the database's locale.
export const listRoutes = statement<
  NoParameters,
  {
    id: string;
    aliases: string[];
    isActive: boolean;
    endpoints: GatewayEndpoint[];
    targets: readonly StoredTarget[];
    /** The providers that take a key of the organisation. */
    byokProviders: string[];
  }
>(
  'catalogue-list-routes',
  sql`SELECT r.id, r.is_active, r.endpoints, ${ALIASES}, ${TARGETS}, ${BYOK_PROVIDERS} FROM routes r ORDER BY r.id COLLATE "C"`,
);

export const findActiveRoutes = statement<{ ids: readonly string[] }, { id: string }>(
  'catalogue-find-active-routes',
  sql`SELECT id FROM routes WHERE id = ANY (${'ids'}::text[]) AND is_active`,
);

/** Finds, of the names, the first that is an alias of an active route. */
export const findRouteOfAlias = statement<{ names: readonly string[] }, { alias: string; routeId: string }>(
  'catalogue-find-route-of-alias',
  sql`SELECT a.alias, a.route_id FROM route_aliases a JOIN routes r ON r.id = a.route_id
      WHERE a.alias = ANY (${'names'}::text[]) AND r.is_active ORDER BY a.alias COLLATE "C" LIMIT 1`,
);

// Two nodes that start together must not both find the catalogue empty, and changes must not interleave.
export const lockRoutes = statement<NoParameters>(
  'catalogue-lock-routes',
  sql`LOCK TABLE routes IN SHARE ROW EXCLUSIVE MODE`,
);

export const countRoutes = statement<NoParameters, { routes: bigint }>(
  'catalogue-count-routes',
  sql`SELECT count(*) AS routes FROM routes WHERE NOT is_builtin`,
);

/** A provider as it is written; rules and flags as JSON. */
export interface ProviderValues {
  readonly name: string;
  readonly protocol: string;
  readonly baseUrl: string | null;
  readonly outputLimit: string;
  readonly flags: string;
  readonly deny: string | null;
  readonly allow: string;
}

export const upsertProvider = statement<ProviderValues>(
  'catalogue-upsert-provider',
  sql`INSERT INTO providers (name, protocol, base_url, output_limit, flags, deny, allow)
      VALUES (${'name'}, ${'protocol'}, ${'baseUrl'}, ${'outputLimit'}, ${'flags'}, ${'deny'}, ${'allow'})
      ON CONFLICT (name) DO UPDATE
      SET protocol = excluded.protocol, base_url = excluded.base_url,
          output_limit = excluded.output_limit, flags = excluded.flags, deny = excluded.deny, allow = excluded.allow`,
);

export const deleteCredentials = statement<{ providers: readonly string[] }>(
  'catalogue-delete-credentials',
  sql`DELETE FROM provider_credentials WHERE provider = ANY (${'providers'}::text[])`,
);

/** `credentials` is a list of StoredCredential, `provider` and `position` as JSON. */
export const insertCredentials = statement<{ credentials: string }>(
  'catalogue-insert-credentials',
  sql`INSERT INTO provider_credentials (provider, position, name, api_key_env, weight)
      SELECT c.provider, c.position, c.name, c."apiKeyEnv", c.weight
      FROM jsonb_to_recordset(${'credentials'}::jsonb)
        AS c (provider text, position smallint, name text, "apiKeyEnv" text, weight smallint)`,
);

export interface ProviderRow {
  readonly name: string;
  readonly protocol: ProviderProtocol;
  /** Null for the built-in provider. */
  readonly baseUrl: string | null;
  /** Empty where the provider takes no key. */
  readonly credentials: readonly StoredCredential[];
  readonly outputLimit: string;
  /** The flags that the catalogue states. */
  readonly flags: StatedProviderFlags;
  /** Null for the default list. */
  readonly deny: readonly MemberRule[] | null;
  readonly allow: readonly MemberRule[];
}

export const listProviders = statement<NoParameters, ProviderRow>(
  'catalogue-list-providers',
  sql`SELECT p.name, p.protocol, p.base_url, p.output_limit, p.flags, p.deny, p.allow, ${CREDENTIALS} FROM providers p`,
);

export interface RouteRow {
  readonly id: string;
  readonly aliases: string[];
  readonly targets: readonly StoredTarget[];
  readonly endpoints: GatewayEndpoint[];
  readonly settings: RouteSettings;
  readonly isActive: boolean;
  readonly isBuiltIn: boolean;
}

export const listRouteRows = statement<NoParameters, RouteRow>(
  'catalogue-list-route-rows',
  sql`SELECT r.id, r.endpoints, ${ROUTE_SETTINGS_DOCUMENT} AS settings, r.is_active, r.is_builtin AS is_built_in,
             ${ALIASES}, ${TARGETS}
      FROM routes r ORDER BY r.id COLLATE "C"`,
);

/** An upstream that a gateway does not use for now. */
export interface CoolingRow {
  /** The gateway process. */
  readonly instance: string;
  readonly provider: string;
  readonly upstreamModel: string;
  /** `own` for keys of organisations, empty where the provider takes none. */
  readonly credential: string;
  readonly until: string | null;
  readonly reason: string | null;
}

export const listCooling = statement<NoParameters, CoolingRow>(
  'catalogue-list-cooling',
  sql`SELECT instance, provider, upstream_model, credential, until, reason FROM upstream_states
      WHERE state <> 'closed' AND until > clock_timestamp()
      ORDER BY provider COLLATE "C", upstream_model COLLATE "C", credential COLLATE "C", instance COLLATE "C"`,
);

export const deleteOldStates = statement<NoParameters>(
  'catalogue-delete-old-states',
  sql`DELETE FROM upstream_states WHERE greatest(until, updated_at) < clock_timestamp() - interval '1 hour'`,
);

export const deleteOldItems = statement<NoParameters>(
  'catalogue-delete-old-items',
  sql`DELETE FROM kept_items WHERE kept_until < clock_timestamp()`,
);

export const findRoute = statement<
  { id: string },
  { isActive: boolean; isBuiltIn: boolean; aliasOf: string | null }
>(
  'catalogue-find-route',
  sql`SELECT is_active, is_builtin AS is_built_in,
             (SELECT a.route_id FROM route_aliases a WHERE a.alias = id) AS alias_of
      FROM routes WHERE id = ${'id'}`,
);

export const switchRoute = statement<{ id: string; isActive: boolean }>(
  'catalogue-switch-route',
  sql`UPDATE routes SET is_active = ${'isActive'}, updated_at = clock_timestamp() WHERE id = ${'id'}`,
);

export const deleteTargets = statement<{ routeIds: readonly string[] }>(
  'catalogue-delete-targets',
  sql`DELETE FROM route_targets WHERE route_id = ANY (${'routeIds'}::text[])`,
);

/** `targets` is a list of StoredTarget, `routeId` and `position` as JSON. Routes that have targets keep theirs. */
export const insertTargets = statement<{ targets: string }>(
  'catalogue-insert-targets',
  sql`INSERT INTO route_targets (route_id, position, provider, upstream_model,
        input_micro_pkr_per_million, output_micro_pkr_per_million, cache_write_micro_pkr_per_million,
        cache_read_micro_pkr_per_million, cache_write_1h_micro_pkr_per_million,
        price_tiers, price_per_call, byok_fee_millionths, priority, weight)
      SELECT t."routeId", t.position, t.provider, t."upstreamModel", t.input, t.output, t."cacheWrite", t."cacheRead",
             t."cacheWrite1h", t."priceTiers", t."pricePerCall", t."byokFeeMillionths", t.priority, t.weight
      FROM jsonb_to_recordset(${'targets'}::jsonb) AS t (
        "routeId" text, position smallint, provider text, "upstreamModel" text, input bigint, output bigint,
        "cacheWrite" bigint, "cacheRead" bigint, "cacheWrite1h" bigint, "priceTiers" jsonb, "pricePerCall" jsonb,
        "byokFeeMillionths" bigint, priority smallint, weight smallint)
      WHERE NOT EXISTS (SELECT FROM route_targets existing WHERE existing.route_id = t."routeId")`,
);

/** A route as it is written, without its aliases and targets. `settings` is their document, as JSON. */
export interface RouteValues {
  readonly id: string;
  readonly endpoints: readonly string[];
  readonly isActive: boolean;
  readonly settings: string;
}

const ROUTE_COLUMNS = sql`id, endpoints, is_active, is_builtin, ${ROUTE_SETTING_COLUMNS}`;
const SETTINGS = sql`jsonb_populate_record(NULL::routes, ${'settings'}::jsonb)`;

export const upsertRoute = statement<RouteValues>(
  'catalogue-upsert-route',
  sql`INSERT INTO routes (${ROUTE_COLUMNS})
      SELECT ${'id'}, ${'endpoints'}, ${'isActive'}, false, ${ROUTE_SETTING_COLUMNS} FROM ${SETTINGS}
      ON CONFLICT (id) DO UPDATE SET
        endpoints = excluded.endpoints,
        is_active = excluded.is_active,
        is_builtin = false,
        ${ROUTE_SETTINGS_EXCLUDED},
        updated_at = clock_timestamp()`,
);

// An existing one stays as the operator switched it, and serves what this version serves.
export const insertBuiltInRoute = statement<RouteValues>(
  'catalogue-insert-built-in-route',
  sql`INSERT INTO routes (${ROUTE_COLUMNS})
      SELECT ${'id'}, ${'endpoints'}, ${'isActive'}, true, ${ROUTE_SETTING_COLUMNS} FROM ${SETTINGS}
      ON CONFLICT (id) DO UPDATE SET endpoints = excluded.endpoints, max_input_tokens = excluded.max_input_tokens,
          updated_at = clock_timestamp()
      WHERE routes.is_builtin AND (routes.endpoints, routes.max_input_tokens)
        IS DISTINCT FROM (excluded.endpoints, excluded.max_input_tokens)`,
);

/** Deletes aliases of all routes but the built-in ones, except these. */
export const deleteAliasesExcept = statement<{ aliases: readonly string[]; routeIds: readonly string[] }>(
  'catalogue-delete-aliases-except',
  sql`DELETE FROM route_aliases a USING routes r
      WHERE r.id = a.route_id AND NOT r.is_builtin
        AND NOT EXISTS (SELECT FROM unnest(${'aliases'}::text[], ${'routeIds'}::text[]) AS kept (alias, route_id)
                        WHERE kept.alias = a.alias AND kept.route_id = a.route_id)`,
);

export const insertAliases = statement<{ aliases: readonly string[]; routeIds: readonly string[] }>(
  'catalogue-insert-aliases',
  sql`INSERT INTO route_aliases (alias, route_id)
      SELECT alias, route_id FROM unnest(${'aliases'}::text[], ${'routeIds'}::text[]) AS wanted (alias, route_id)
      WHERE NOT EXISTS (SELECT FROM route_aliases a WHERE a.alias = wanted.alias AND a.route_id = wanted.route_id)`,
);

export const deactivateRoutesExcept = statement<{ ids: readonly string[] }>(
  'catalogue-deactivate-routes-except',
  sql`UPDATE routes SET is_active = false, updated_at = clock_timestamp()
      WHERE is_active AND NOT is_builtin AND id <> ALL (${'ids'})`,
);

export const deactivateBuiltInRoutes = statement<NoParameters>(
  'catalogue-deactivate-built-in-routes',
  sql`UPDATE routes SET is_active = false, updated_at = clock_timestamp() WHERE is_builtin AND is_active`,
);
