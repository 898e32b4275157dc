import { type Database, statement } from '@gatehouse/store';

const insertProvider = statement(
  'test-insert-provider',
  `INSERT INTO providers (name, protocol, base_url) VALUES ($1, 'openai', 'http://127.0.0.1:1/v1')
   ON CONFLICT (name) DO NOTHING`,
);

const insertRoute = statement(
  'test-insert-route',
  `INSERT INTO routes (id, provider, upstream_model, endpoints,
                       input_micro_pkr_per_million, output_micro_pkr_per_million,
                       cache_write_micro_pkr_per_million, cache_read_micro_pkr_per_million,
                       byok_fee_millionths, max_output_tokens, timeout_ms, is_active)
   VALUES ($1, $2, $1, $3, $4, $5, $6, $7, 0, 1000, 1000, $8)`,
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
  await database.run(insertProvider, [provider]);
  await database.run(insertRoute, [id, provider, endpoints, ...prices, isActive]);
}
