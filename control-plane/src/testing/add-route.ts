import { type Database, sql, statement } from '@gatehouse/store';

const insertProvider = statement<{ name: string }>(
  'test-api-insert-provider',
  sql`INSERT INTO providers (name, protocol, base_url) VALUES (${'name'}, 'openai', 'http://127.0.0.1:1/v1')
      ON CONFLICT (name) DO NOTHING`,
);

interface Route {
  readonly id: string;
  readonly provider: string;
  readonly endpoints: readonly string[];
  readonly input: bigint;
  readonly output: bigint;
  readonly cacheWrite: bigint;
  readonly cacheRead: bigint;
  readonly isActive: boolean;
}

const insertRoute = statement<Route>(
  'test-api-insert-route',
  sql`WITH r AS (
        INSERT INTO routes (id, endpoints, max_output_tokens, timeout_ms, is_active)
        VALUES (${'id'}, ${'endpoints'}, 1000, 1000, ${'isActive'}) RETURNING id)
      INSERT INTO route_targets (route_id, position, provider, upstream_model,
                                 input_micro_pkr_per_million, output_micro_pkr_per_million,
                                 cache_write_micro_pkr_per_million, cache_read_micro_pkr_per_million,
                                 cache_write_1h_micro_pkr_per_million, byok_fee_millionths)
      SELECT id, 0, ${'provider'}, 'model', ${'input'}, ${'output'}, ${'cacheWrite'}, ${'cacheRead'}, ${'cacheWrite'}, 0
      FROM r`,
);

/** Inserts a route. Prices are micro-PKR per million tokens: input, output, cache write, cache read. */
export async function addRoute(
  database: Database,
  id: string,
  given: {
    provider?: string;
    isActive?: boolean;
    endpoints?: string[];
    prices?: [bigint, bigint, bigint, bigint];
  } = {},
): Promise<void> {
  const { provider = 'test', isActive = true, endpoints = ['chat'], prices = [1n, 2n, 3n, 4n] } = given;
  const [input, output, cacheWrite, cacheRead] = prices;
  await database.run(insertProvider, { name: provider });
  await database.run(insertRoute, {
    id,
    provider,
    endpoints,
    input,
    output,
    cacheWrite,
    cacheRead,
    isActive,
  });
}
