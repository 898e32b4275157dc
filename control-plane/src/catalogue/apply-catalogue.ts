import { GATEWAY_ENDPOINTS } from '@gatehouse/contract';
import type { Database, Transaction } from '@gatehouse/store';
import {
  BUILT_IN_PROVIDER,
  BUILT_IN_ROUTE,
  type Catalogue,
  CatalogueFile,
  type CatalogueProvider,
  type CatalogueRoute,
} from './catalogue-file.ts';
import { type CatalogueChange, compareCatalogue } from './compare-catalogue.ts';
import * as queries from './queries.ts';
import { settingsOf } from './route-settings.ts';
import { storedCredential, storedTarget } from './stored-targets.ts';
import { WrittenNumber } from './written-number.ts';

// The demo route works without a network. Its price is above zero so that a new user sees spend.
function demoRoutes(): readonly CatalogueRoute[] {
  return CatalogueFile.parse({
    providers: {},
    routes: [
      {
        id: BUILT_IN_ROUTE,
        provider: BUILT_IN_PROVIDER,
        upstream_model: 'echo',
        endpoints: GATEWAY_ENDPOINTS,
        price_pkr_per_million: { input: new WrittenNumber('50'), output: new WrittenNumber('200') },
        byok_fee_percent: new WrittenNumber('0'),
        max_output_tokens: 4_096,
        // What a prompt holds that cannot be counted, such as one with a picture: more than any client sends.
        max_input_tokens: 1_000_000,
        timeout_ms: 60_000,
      },
    ],
  }).routes;
}

const BUILT_IN_PROVIDER_VALUES: queries.ProviderValues = {
  name: BUILT_IN_PROVIDER,
  protocol: 'demo',
  baseUrl: null,
  outputLimit: 'max_completion_tokens',
  flags: '{}',
  deny: null,
  allow: '[]',
};

/**
 * Makes the file's routes the catalogue, in one transaction: named routes are inserted or updated, all others become
 * inactive. Gateways read the route's row for each request, so the change applies to the next request on every node.
 */
export function applyCatalogue(database: Database, catalogue: Catalogue): Promise<CatalogueChange> {
  return database.transaction(async (tx) => {
    await tx.run(queries.lockRoutes);
    return apply(tx, catalogue);
  });
}

/** The changes that `applyCatalogue` would make now. */
export async function previewCatalogue(database: Database, catalogue: Catalogue): Promise<CatalogueChange> {
  return (await compareCatalogue(database, catalogue)).change;
}

/**
 * Prepares the catalogue at start: loads the file if there are no routes yet, and activates or deactivates the demo
 * route. Returns the number of routes loaded. Several nodes may do this concurrently.
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
      const routes = demoRoutes();
      await tx.run(queries.upsertProvider, BUILT_IN_PROVIDER_VALUES);
      for (const route of routes) await tx.run(queries.insertBuiltInRoute, routeValues(route));
      await tx.run(queries.insertTargets, { targets: targetValues(routes) });
    } else {
      await tx.run(queries.deactivateBuiltInRoutes);
    }
    return loaded;
  });
}

/** Writes what is new or changed. Unchanged rows keep their `updated_at`. */
async function apply(tx: Transaction, catalogue: Catalogue): Promise<CatalogueChange> {
  await tx.run(queries.upsertProvider, BUILT_IN_PROVIDER_VALUES);
  const { change, providers, routes } = await compareCatalogue(tx, catalogue);
  const changed = providers.map((name) => ({ name, provider: catalogue.providers[name] }));
  for (const { name, provider } of changed)
    if (provider) await tx.run(queries.upsertProvider, providerValues(name, provider));
  await tx.run(queries.deleteCredentials, { providers });
  await tx.run(queries.insertCredentials, {
    credentials: JSON.stringify(
      changed.flatMap(({ name, provider }) =>
        (provider?.credentials ?? []).map((credential, position) => ({
          ...storedCredential(credential),
          provider: name,
          position,
        })),
      ),
    ),
  });
  const names = catalogue.routes.flatMap(({ id, aliases }) => aliases.map((alias) => ({ alias, id })));
  const aliases = { aliases: names.map(({ alias }) => alias), routeIds: names.map(({ id }) => id) };
  // A name may pass from a route to another, as id or alias, so names are given up before they are taken.
  await tx.run(queries.deleteAliasesExcept, aliases);
  await tx.run(queries.deactivateRoutesExcept, { ids: catalogue.routes.map(({ id }) => id) });
  for (const route of routes) await tx.run(queries.upsertRoute, routeValues(route));
  await tx.run(queries.deleteTargets, { routeIds: routes.map(({ id }) => id) });
  await tx.run(queries.insertTargets, { targets: targetValues(routes) });
  await tx.run(queries.insertAliases, aliases);
  return change;
}

function providerValues(name: string, provider: CatalogueProvider): queries.ProviderValues {
  return {
    name,
    protocol: provider.protocol,
    baseUrl: provider.base_url,
    outputLimit: provider.output_limit,
    flags: JSON.stringify(provider.flags),
    deny: provider.deny ? JSON.stringify(provider.deny) : null,
    allow: JSON.stringify(provider.allow),
  };
}

function routeValues(route: CatalogueRoute): queries.RouteValues {
  const { id, endpoints, active } = route;
  return { id, endpoints, isActive: active, settings: JSON.stringify(settingsOf(route)) };
}

/** The targets of these routes, as JSON. */
function targetValues(routes: readonly CatalogueRoute[]): string {
  return JSON.stringify(
    routes.flatMap(({ id, targets }) =>
      targets.map((target, position) => ({ ...storedTarget(target), routeId: id, position })),
    ),
  );
}
