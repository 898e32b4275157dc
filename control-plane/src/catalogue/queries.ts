import {
  type catalogue,
  DEFAULT_MIN_OUTPUT_TOKENS,
  DEFAULT_OUTPUT_TOKENS,
  type MemberRule,
} from '@gatehouse/contract';
import { type NoParameters, sql, statement } from '@gatehouse/store';
import type { RouteOverview } from './operate-routes.ts';

export type GatewayEndpoint = (typeof catalogue.GATEWAY_ENDPOINTS)[number];

/** In micro-PKR per million tokens. */
export interface Prices {
  readonly inputMicroPkrPerMillion: bigint;
  readonly outputMicroPkrPerMillion: bigint;
  readonly cacheWriteMicroPkrPerMillion: bigint;
  readonly cacheReadMicroPkrPerMillion: bigint;
}

const PRICES = sql`input_micro_pkr_per_million, output_micro_pkr_per_million,
  cache_write_micro_pkr_per_million, cache_read_micro_pkr_per_million`;

// Ordered by bytes, independent of the database's locale.
export const listRoutes = statement<
  NoParameters,
  Prices & { id: string; provider: string; isActive: boolean; endpoints: GatewayEndpoint[] }
>(
  'catalogue-list-routes',
  sql`SELECT id, provider, is_active, endpoints, ${PRICES} FROM routes ORDER BY id COLLATE "C"`,
);

export const findActiveRoutes = statement<{ ids: readonly string[] }, { id: string }>(
  'catalogue-find-active-routes',
  sql`SELECT id FROM routes WHERE id = ANY (${'ids'}::text[]) AND is_active`,
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

/** A provider as it is written; rules as JSON. */
export interface ProviderValues {
  readonly name: string;
  readonly protocol: string;
  readonly baseUrl: string | null;
  readonly apiKeyEnv: string | null;
  readonly outputLimit: string;
  readonly deny: string | null;
  readonly allow: string;
}

export const upsertProvider = statement<ProviderValues>(
  'catalogue-upsert-provider',
  sql`INSERT INTO providers (name, protocol, base_url, api_key_env, output_limit, deny, allow)
      VALUES (${'name'}, ${'protocol'}, ${'baseUrl'}, ${'apiKeyEnv'}, ${'outputLimit'}, ${'deny'}, ${'allow'})
      ON CONFLICT (name) DO UPDATE
      SET protocol = excluded.protocol, base_url = excluded.base_url, api_key_env = excluded.api_key_env,
          output_limit = excluded.output_limit, deny = excluded.deny, allow = excluded.allow`,
);

export interface ProviderRow {
  readonly name: string;
  readonly protocol: string;
  readonly baseUrl: string | null;
  readonly apiKeyEnv: string | null;
  readonly outputLimit: string;
  readonly deny: readonly MemberRule[] | null;
  readonly allow: readonly MemberRule[];
}

export const listProviders = statement<NoParameters, ProviderRow>(
  'catalogue-list-providers',
  sql`SELECT name, protocol, base_url, api_key_env, output_limit, deny, allow FROM providers`,
);

export interface RouteRow extends Prices {
  readonly id: string;
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
  sql`SELECT id, provider, upstream_model, endpoints, ${PRICES}, byok_fee_millionths, max_output_tokens,
             default_output_tokens, min_output_tokens, max_input_tokens, allow, timeout_ms, is_active, is_builtin
      FROM routes`,
);

export const listRouteOverviews = statement<NoParameters, RouteOverview>(
  'catalogue-list-route-overviews',
  sql`SELECT r.id, r.provider, p.protocol, p.base_url, p.api_key_env, p.output_limit, p.deny,
             p.allow || r.allow AS allow, r.upstream_model, r.endpoints, r.is_active, r.is_builtin AS is_built_in,
             r.input_micro_pkr_per_million, r.output_micro_pkr_per_million,
             r.cache_write_micro_pkr_per_million, r.cache_read_micro_pkr_per_million,
             r.byok_fee_millionths, r.max_output_tokens,
             coalesce(r.default_output_tokens, least(${DEFAULT_OUTPUT_TOKENS}, r.max_output_tokens)) AS default_output_tokens,
             coalesce(r.min_output_tokens, least(${DEFAULT_MIN_OUTPUT_TOKENS}, r.max_output_tokens)) AS min_output_tokens,
             r.max_input_tokens, r.timeout_ms
      FROM routes r JOIN providers p ON p.name = r.provider
      ORDER BY r.id COLLATE "C"`,
);

export const findRoute = statement<{ id: string }, { isActive: boolean; isBuiltIn: boolean }>(
  'catalogue-find-route',
  sql`SELECT is_active, is_builtin AS is_built_in FROM routes WHERE id = ${'id'}`,
);

export const switchRoute = statement<{ id: string; isActive: boolean }>(
  'catalogue-switch-route',
  sql`UPDATE routes SET is_active = ${'isActive'}, updated_at = clock_timestamp() WHERE id = ${'id'}`,
);

/** A route as it is written; rules as JSON. */
export interface RouteValues extends Prices {
  readonly id: string;
  readonly provider: string;
  readonly upstreamModel: string;
  readonly endpoints: readonly string[];
  readonly byokFeeMillionths: bigint;
  readonly maxOutputTokens: number;
  readonly timeoutMs: number;
  readonly isActive: boolean;
  readonly defaultOutputTokens: number | null;
  readonly minOutputTokens: number | null;
  readonly maxInputTokens: number | null;
  readonly allow: string;
}

const ROUTE_COLUMNS = sql`id, provider, upstream_model, endpoints, ${PRICES},
  byok_fee_millionths, max_output_tokens, timeout_ms, is_active,
  default_output_tokens, min_output_tokens, max_input_tokens, allow, is_builtin`;

const ROUTE_VALUES = sql`${'id'}, ${'provider'}, ${'upstreamModel'}, ${'endpoints'},
  ${'inputMicroPkrPerMillion'}, ${'outputMicroPkrPerMillion'},
  ${'cacheWriteMicroPkrPerMillion'}, ${'cacheReadMicroPkrPerMillion'},
  ${'byokFeeMillionths'}, ${'maxOutputTokens'}, ${'timeoutMs'}, ${'isActive'},
  ${'defaultOutputTokens'}, ${'minOutputTokens'}, ${'maxInputTokens'}, ${'allow'}`;

export const upsertRoute = statement<RouteValues>(
  'catalogue-upsert-route',
  sql`INSERT INTO routes (${ROUTE_COLUMNS}) VALUES (${ROUTE_VALUES}, false)
      ON CONFLICT (id) DO UPDATE SET
        provider = excluded.provider,
        upstream_model = excluded.upstream_model,
        endpoints = excluded.endpoints,
        input_micro_pkr_per_million = excluded.input_micro_pkr_per_million,
        output_micro_pkr_per_million = excluded.output_micro_pkr_per_million,
        cache_write_micro_pkr_per_million = excluded.cache_write_micro_pkr_per_million,
        cache_read_micro_pkr_per_million = excluded.cache_read_micro_pkr_per_million,
        byok_fee_millionths = excluded.byok_fee_millionths,
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

export const insertBuiltInRoute = statement<RouteValues>(
  'catalogue-insert-built-in-route',
  sql`INSERT INTO routes (${ROUTE_COLUMNS}) VALUES (${ROUTE_VALUES}, true) ON CONFLICT (id) DO NOTHING`,
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
