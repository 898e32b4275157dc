import {
  type catalogue,
  DEFAULT_MIN_OUTPUT_TOKENS,
  DEFAULT_OUTPUT_TOKENS,
  type MemberRule,
} from '@gatehouse/contract';
import { statement } from '@gatehouse/store';
import type { RouteOverview } from './operate-routes.ts';

// Ordered by bytes, independent of the database's locale.
export const listRoutes = statement<{
  id: string;
  provider: string;
  is_active: boolean;
  endpoints: (typeof catalogue.GATEWAY_ENDPOINTS)[number][];
  input_micro_pkr_per_million: bigint;
  output_micro_pkr_per_million: bigint;
  cache_write_micro_pkr_per_million: bigint;
  cache_read_micro_pkr_per_million: bigint;
}>(
  'catalogue-list-routes',
  `SELECT id, provider, is_active, endpoints,
          input_micro_pkr_per_million, output_micro_pkr_per_million,
          cache_write_micro_pkr_per_million, cache_read_micro_pkr_per_million
   FROM routes
   ORDER BY id COLLATE "C"`,
);

export const findActiveRoutes = statement<{ id: string }>(
  'catalogue-find-active-routes',
  `SELECT id FROM routes WHERE id = ANY ($1::text[]) AND is_active`,
);

// Two nodes that start together must not both find the catalogue empty, and changes must not interleave.
export const lockRoutes = statement('catalogue-lock-routes', 'LOCK TABLE routes IN SHARE ROW EXCLUSIVE MODE');

export const countRoutes = statement<{ routes: bigint }>(
  'catalogue-count-routes',
  'SELECT count(*) AS routes FROM routes WHERE NOT is_builtin',
);

export const upsertProvider = statement(
  'catalogue-upsert-provider',
  `INSERT INTO providers (name, protocol, base_url, api_key_env, output_limit, deny, allow)
   VALUES ($1, $2, $3, $4, $5, $6, $7)
   ON CONFLICT (name) DO UPDATE
   SET protocol = excluded.protocol, base_url = excluded.base_url, api_key_env = excluded.api_key_env,
       output_limit = excluded.output_limit, deny = excluded.deny, allow = excluded.allow`,
);

export const listProviders = statement<{
  name: string;
  protocol: string;
  base_url: string | null;
  api_key_env: string | null;
  output_limit: string;
  deny: readonly MemberRule[] | null;
  allow: readonly MemberRule[];
}>(
  'catalogue-list-providers',
  'SELECT name, protocol, base_url, api_key_env, output_limit, deny, allow FROM providers',
);

// Named like the file's members, for comparison.
export const listRoutesWhole = statement<{ id: string } & Record<string, unknown>>(
  'catalogue-list-routes-whole',
  `SELECT id, provider, upstream_model, endpoints,
          input_micro_pkr_per_million AS "price_pkr_per_million.input",
          output_micro_pkr_per_million AS "price_pkr_per_million.output",
          cache_write_micro_pkr_per_million AS "price_pkr_per_million.cache_write",
          cache_read_micro_pkr_per_million AS "price_pkr_per_million.cache_read",
          byok_fee_millionths AS byok_fee_percent, max_output_tokens,
          default_output_tokens, min_output_tokens, max_input_tokens, allow, timeout_ms,
          is_active AS active, is_builtin AS built_in
   FROM routes`,
);

export const listRouteOverviews = statement<RouteOverview>(
  'catalogue-list-route-overviews',
  `SELECT r.id, r.provider, p.protocol, p.base_url AS "baseUrl", p.api_key_env AS "apiKeyEnv",
          p.output_limit AS "outputLimit", p.deny, p.allow || r.allow AS allow,
          r.upstream_model AS "upstreamModel", r.endpoints,
          r.is_active AS "isActive", r.is_builtin AS "isBuiltIn",
          r.input_micro_pkr_per_million AS "inputMicroPkrPerMillion",
          r.output_micro_pkr_per_million AS "outputMicroPkrPerMillion",
          r.cache_write_micro_pkr_per_million AS "cacheWriteMicroPkrPerMillion",
          r.cache_read_micro_pkr_per_million AS "cacheReadMicroPkrPerMillion",
          r.byok_fee_millionths AS "byokFeeMillionths", r.max_output_tokens AS "maxOutputTokens",
          coalesce(r.default_output_tokens, least(${DEFAULT_OUTPUT_TOKENS}, r.max_output_tokens)) AS "defaultOutputTokens",
          coalesce(r.min_output_tokens, least(${DEFAULT_MIN_OUTPUT_TOKENS}, r.max_output_tokens)) AS "minOutputTokens",
          r.max_input_tokens AS "maxInputTokens", r.timeout_ms AS "timeoutMs"
   FROM routes r JOIN providers p ON p.name = r.provider
   ORDER BY r.id COLLATE "C"`,
);

export const findRoute = statement<{ isActive: boolean; isBuiltIn: boolean }>(
  'catalogue-find-route',
  `SELECT is_active AS "isActive", is_builtin AS "isBuiltIn" FROM routes WHERE id = $1`,
);

export const switchRoute = statement(
  'catalogue-switch-route',
  `UPDATE routes SET is_active = $2, updated_at = clock_timestamp() WHERE id = $1`,
);

const ROUTE_COLUMNS = `id, provider, upstream_model, endpoints,
  input_micro_pkr_per_million, output_micro_pkr_per_million,
  cache_write_micro_pkr_per_million, cache_read_micro_pkr_per_million,
  byok_fee_millionths, max_output_tokens, timeout_ms, is_active,
  default_output_tokens, min_output_tokens, max_input_tokens, allow, is_builtin`;

export const upsertRoute = statement(
  'catalogue-upsert-route',
  `INSERT INTO routes (${ROUTE_COLUMNS})
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, false)
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

export const insertBuiltInRoute = statement(
  'catalogue-insert-built-in-route',
  `INSERT INTO routes (${ROUTE_COLUMNS})
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, true)
   ON CONFLICT (id) DO NOTHING`,
);

export const deactivateRoutesExcept = statement(
  'catalogue-deactivate-routes-except',
  `UPDATE routes SET is_active = false, updated_at = clock_timestamp()
   WHERE is_active AND NOT is_builtin AND id <> ALL ($1)`,
);

export const deactivateBuiltInRoutes = statement(
  'catalogue-deactivate-built-in-routes',
  `UPDATE routes SET is_active = false, updated_at = clock_timestamp() WHERE is_builtin AND is_active`,
);
