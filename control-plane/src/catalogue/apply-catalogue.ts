import type { Database, Transaction } from '@gatehouse/store';
import * as queries from './queries.ts';
import { BUILT_IN_PROVIDER, type Catalogue } from './read-catalogue.ts';

// The demonstration answers without a network and is priced above zero, so that a newcomer sees money move.
const DEMO_ROUTE: Catalogue['routes'][number] = {
  id: 'demo/echo',
  provider: BUILT_IN_PROVIDER,
  upstream_model: 'echo',
  endpoints: ['chat'],
  price_pkr_per_million: { input: 50_000_000n, output: 200_000_000n, cache_write: 0n, cache_read: 0n },
  byok_fee_percent: 0n,
  max_output_tokens: 4_096,
  timeout_ms: 60_000,
  active: true,
};

/** Makes the file's routes the catalogue: those it names are put in or updated, the others become inactive. */
export function applyCatalogue(database: Database, catalogue: Catalogue): Promise<void> {
  return database.transaction((tx) => apply(tx, catalogue));
}

/**
 * Prepares the catalogue at start: loads the file when there is no route yet, and puts the demonstration route in
 * or out of service. Says how many routes were loaded. Several nodes may do this at once.
 */
export function prepareCatalogue(
  database: Database,
  options: { readonly hasDemo: boolean; readonly load: () => Promise<Catalogue> },
): Promise<number> {
  return database.transaction(async (tx) => {
    await tx.run(queries.lockRoutes);
    const count = await tx.one(queries.countRoutes);
    let loaded = 0;
    if (count?.routes === 0n) {
      const catalogue = await options.load();
      await apply(tx, catalogue);
      loaded = catalogue.routes.length;
    }
    if (options.hasDemo) {
      await tx.run(queries.upsertProvider, [BUILT_IN_PROVIDER, 'demo', null, null]);
      await tx.run(queries.insertBuiltInRoute, routeValues(DEMO_ROUTE));
    } else {
      await tx.run(queries.deactivateBuiltInRoutes);
    }
    return loaded;
  });
}

async function apply(tx: Transaction, catalogue: Catalogue): Promise<void> {
  await tx.run(queries.upsertProvider, [BUILT_IN_PROVIDER, 'demo', null, null]);
  for (const [name, provider] of Object.entries(catalogue.providers)) {
    await tx.run(queries.upsertProvider, [
      name,
      provider.protocol,
      provider.base_url,
      provider.api_key_env ?? null,
    ]);
  }
  for (const route of catalogue.routes) await tx.run(queries.upsertRoute, routeValues(route));
  await tx.run(queries.deactivateRoutesExcept, [catalogue.routes.map((route) => route.id)]);
}

function routeValues(route: Catalogue['routes'][number]): unknown[] {
  return [
    route.id,
    route.provider,
    route.upstream_model,
    route.endpoints,
    route.price_pkr_per_million.input,
    route.price_pkr_per_million.output,
    route.price_pkr_per_million.cache_write,
    route.price_pkr_per_million.cache_read,
    route.byok_fee_percent,
    route.max_output_tokens,
    route.timeout_ms,
    route.active,
  ];
}
