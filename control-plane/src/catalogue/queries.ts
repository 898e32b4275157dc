import {
  DEFAULT_MIN_OUTPUT_TOKENS,
  DEFAULT_OUTPUT_TOKENS,
  type GatewayEndpoint,
  type MemberRule,
  type ProviderProtocol,
  type StatedProviderFlags,
} from '@gatehouse/contract';
import { type NoParameters, sql, statement } from '@gatehouse/store';
import type { RouteOverview } from './operate-routes.ts';

/** In micro-PKR per million tokens. */
export interface Prices {
  readonly inputMicroPkrPerMillion: bigint;
  readonly outputMicroPkrPerMillion: bigint;
  readonly cacheWriteMicroPkrPerMillion: bigint;
  readonly cacheReadMicroPkrPerMillion: bigint;
  readonly cacheWrite1hMicroPkrPerMillion: bigint;
}

/** Prices that a route may have besides, as their columns store them: JSON has no bigint, and every amount is below 2^53. */
export interface StoredTier {
  readonly abovePromptTokens: number;
  readonly input: number;
  readonly output: number;
  readonly cacheWrite: number;
  readonly cacheRead: number;
  readonly cacheWrite1h: number;
}

export type StoredCallPrices = Readonly<Record<string, number>>;

const PRICES = sql`input_micro_pkr_per_million, output_micro_pkr_per_million,
  cache_write_micro_pkr_per_million, cache_read_micro_pkr_per_million,
  cache_write_1h_micro_pkr_per_million`;

// Ordered by bytes, as routes are.
const ALIASES = sql`ARRAY(
  SELECT a.alias FROM route_aliases a WHERE a.route_id = r.id ORDER BY a.alias COLLATE "C") AS aliases`;

// Ordered by bytes, independent of the database's locale.
export const listRoutes = statement<
  NoParameters,
  Prices & {
    id: string;
    aliases: string[];
    provider: string;
    isActive: boolean;
    endpoints: GatewayEndpoint[];
    priceTiers: readonly StoredTier[];
    pricePerCall: StoredCallPrices;
  }
>(
  'catalogue-list-routes',
  sql`SELECT r.id, t.provider, r.is_active, r.endpoints, ${PRICES}, t.price_tiers, t.price_per_call, ${ALIASES}
      FROM routes r JOIN route_targets t ON t.route_id = r.id AND t.position = 0 ORDER BY r.id COLLATE "C"`,
);

export const findActiveRoutes = statement<{ ids: readonly string[] }, { id: string }>(
  'catalogue-find-active-routes',
  sql`SELECT id FROM routes WHERE id = ANY (${'ids'}::text[]) AND is_active`,
);

/** Of names, the first that is an alias of an active route. */
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

export const deleteCredentials = statement<{ provider: string }>(
  'catalogue-delete-credentials',
  sql`DELETE FROM provider_credentials WHERE provider = ${'provider'}`,
);

export const insertCredential = statement<{ provider: string; apiKeyEnv: string }>(
  'catalogue-insert-credential',
  sql`INSERT INTO provider_credentials (provider, name, position, api_key_env)
      VALUES (${'provider'}, 'default', 0, ${'apiKeyEnv'})`,
);

export interface ProviderRow {
  readonly name: string;
  readonly protocol: ProviderProtocol;
  readonly baseUrl: string | null;
  readonly apiKeyEnv: string | null;
  readonly outputLimit: string;
  readonly flags: StatedProviderFlags;
  readonly deny: readonly MemberRule[] | null;
  readonly allow: readonly MemberRule[];
}

export const listProviders = statement<NoParameters, ProviderRow>(
  'catalogue-list-providers',
  sql`SELECT p.name, p.protocol, p.base_url, c.api_key_env, p.output_limit, p.flags, p.deny, p.allow
      FROM providers p LEFT JOIN provider_credentials c ON c.provider = p.name AND c.position = 0`,
);

export interface RouteRow extends Prices {
  readonly id: string;
  readonly aliases: string[];
  readonly priceTiers: readonly StoredTier[];
  readonly pricePerCall: StoredCallPrices;
  readonly provider: string;
  readonly upstreamModel: string;
  readonly endpoints: GatewayEndpoint[];
  readonly byokFeeMillionths: bigint;
  readonly maxOutputTokens: bigint;
  readonly defaultOutputTokens: bigint | null;
  readonly minOutputTokens: bigint | null;
  readonly maxInputTokens: bigint | null;
  readonly allow: readonly MemberRule[];
  readonly timeoutMs: number;
  readonly isActive: boolean;
  readonly isBuiltin: boolean;
}

export const listRouteRows = statement<NoParameters, RouteRow>(
  'catalogue-list-route-rows',
  sql`SELECT r.id, t.provider, t.upstream_model, r.endpoints, ${PRICES}, t.byok_fee_millionths, r.max_output_tokens,
             r.default_output_tokens, r.min_output_tokens, r.max_input_tokens, r.allow, r.timeout_ms, r.is_active,
             r.is_builtin, t.price_tiers, t.price_per_call, ${ALIASES}
      FROM routes r JOIN route_targets t ON t.route_id = r.id AND t.position = 0`,
);

export const listRouteOverviews = statement<NoParameters, RouteOverview>(
  'catalogue-list-route-overviews',
  sql`SELECT r.id, ${ALIASES}, t.provider, p.protocol, p.base_url, c.api_key_env, p.output_limit, p.flags, p.deny,
             p.allow || r.allow AS allow, t.upstream_model, r.endpoints, r.is_active, r.is_builtin AS is_built_in,
             ${PRICES}, t.price_tiers, t.price_per_call, t.byok_fee_millionths, r.max_output_tokens,
             coalesce(r.default_output_tokens, least(${DEFAULT_OUTPUT_TOKENS}, r.max_output_tokens)) AS default_output_tokens,
             coalesce(r.min_output_tokens, least(${DEFAULT_MIN_OUTPUT_TOKENS}, r.max_output_tokens)) AS min_output_tokens,
             r.max_input_tokens, r.timeout_ms
      FROM routes r JOIN route_targets t ON t.route_id = r.id AND t.position = 0
      JOIN providers p ON p.name = t.provider LEFT JOIN provider_credentials c ON c.provider = p.name AND c.position = 0
      ORDER BY r.id COLLATE "C"`,
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

/** A target as it is written; tiers and prices of calls as JSON. */
export interface TargetValues extends Prices {
  readonly routeId: string;
  readonly provider: string;
  readonly upstreamModel: string;
  readonly priceTiers: string;
  readonly pricePerCall: string;
  readonly byokFeeMillionths: bigint;
}

const INSERT_TARGET = sql`
  INSERT INTO route_targets (route_id, position, provider, upstream_model, ${PRICES},
                             price_tiers, price_per_call, byok_fee_millionths)
  SELECT ${'routeId'}, 0, ${'provider'}, ${'upstreamModel'},
         ${'inputMicroPkrPerMillion'}, ${'outputMicroPkrPerMillion'},
         ${'cacheWriteMicroPkrPerMillion'}, ${'cacheReadMicroPkrPerMillion'}, ${'cacheWrite1hMicroPkrPerMillion'},
         ${'priceTiers'}, ${'pricePerCall'}, ${'byokFeeMillionths'}`;

export const insertTarget = statement<TargetValues>('catalogue-insert-target', INSERT_TARGET);

/** Where the route has none yet. */
export const insertFirstTarget = statement<TargetValues>(
  'catalogue-insert-first-target',
  sql`${INSERT_TARGET} WHERE NOT EXISTS (SELECT FROM route_targets WHERE route_id = ${'routeId'})`,
);

export const deleteTargets = statement<{ routeId: string }>(
  'catalogue-delete-targets',
  sql`DELETE FROM route_targets WHERE route_id = ${'routeId'}`,
);

/** A route as it is written, without its aliases and targets; rules as JSON. */
export interface RouteValues {
  readonly id: string;
  readonly endpoints: readonly string[];
  readonly maxOutputTokens: number;
  readonly timeoutMs: number;
  readonly isActive: boolean;
  readonly defaultOutputTokens: number | null;
  readonly minOutputTokens: number | null;
  readonly maxInputTokens: number | null;
  readonly allow: string;
}

const ROUTE_COLUMNS = sql`id, endpoints, max_output_tokens, timeout_ms, is_active,
  default_output_tokens, min_output_tokens, max_input_tokens, allow, is_builtin`;

const ROUTE_VALUES = sql`${'id'}, ${'endpoints'}, ${'maxOutputTokens'}, ${'timeoutMs'}, ${'isActive'},
  ${'defaultOutputTokens'}, ${'minOutputTokens'}, ${'maxInputTokens'}, ${'allow'}`;

export const upsertRoute = statement<RouteValues>(
  'catalogue-upsert-route',
  sql`INSERT INTO routes (${ROUTE_COLUMNS}) VALUES (${ROUTE_VALUES}, false)
      ON CONFLICT (id) DO UPDATE SET
        endpoints = excluded.endpoints,
        max_output_tokens = excluded.max_output_tokens,
        default_output_tokens = excluded.default_output_tokens,
        min_output_tokens = excluded.min_output_tokens,
        max_input_tokens = excluded.max_input_tokens,
        allow = excluded.allow,
        timeout_ms = excluded.timeout_ms,
        is_active = excluded.is_active,
        is_builtin = false,
        updated_at = clock_timestamp()`,
);

// An existing one stays as the operator switched it, and serves what this version serves.
export const insertBuiltInRoute = statement<RouteValues>(
  'catalogue-insert-built-in-route',
  sql`INSERT INTO routes (${ROUTE_COLUMNS}) VALUES (${ROUTE_VALUES}, true)
      ON CONFLICT (id) DO UPDATE SET endpoints = excluded.endpoints, max_input_tokens = excluded.max_input_tokens,
          updated_at = clock_timestamp()
      WHERE routes.is_builtin AND (routes.endpoints, routes.max_input_tokens)
        IS DISTINCT FROM (excluded.endpoints, excluded.max_input_tokens)`,
);

/** Of all routes but the built-in ones, and only aliases that are not among these. */
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
