import type { catalogue } from '@gatehouse/contract';
import { statement } from '@gatehouse/store';

// Ordered by bytes, so that the order does not hang on the database's locale.
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

// Two nodes that start together must not both find the catalogue empty.
export const lockRoutes = statement('catalogue-lock-routes', 'LOCK TABLE routes IN SHARE ROW EXCLUSIVE MODE');

export const countRoutes = statement<{ routes: bigint }>(
  'catalogue-count-routes',
  'SELECT count(*) AS routes FROM routes WHERE NOT is_builtin',
);

export const upsertProvider = statement(
  'catalogue-upsert-provider',
  `INSERT INTO providers (name, protocol, base_url, api_key_env) VALUES ($1, $2, $3, $4)
   ON CONFLICT (name) DO UPDATE
   SET protocol = excluded.protocol, base_url = excluded.base_url, api_key_env = excluded.api_key_env`,
);

const ROUTE_COLUMNS = `id, provider, upstream_model, endpoints,
  input_micro_pkr_per_million, output_micro_pkr_per_million,
  cache_write_micro_pkr_per_million, cache_read_micro_pkr_per_million,
  byok_fee_millionths, max_output_tokens, timeout_ms, is_active, is_builtin`;

export const upsertRoute = statement(
  'catalogue-upsert-route',
  `INSERT INTO routes (${ROUTE_COLUMNS})
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, false)
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
     timeout_ms = excluded.timeout_ms,
     is_active = excluded.is_active,
     is_builtin = false,
     updated_at = clock_timestamp()`,
);

export const insertBuiltInRoute = statement(
  'catalogue-insert-built-in-route',
  `INSERT INTO routes (${ROUTE_COLUMNS})
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, true)
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
