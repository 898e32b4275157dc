import { isDeepStrictEqual } from 'node:util';
import type { Database, Transaction } from '@gatehouse/store';
import { BUILT_IN_PROVIDER, BUILT_IN_ROUTE, type Catalogue, type CatalogueRoute } from './catalogue-file.ts';
import * as queries from './queries.ts';

// The demonstration answers without a network and is priced above zero, so that a newcomer sees money move.
const DEMO_ROUTE: CatalogueRoute = {
  id: BUILT_IN_ROUTE,
  provider: BUILT_IN_PROVIDER,
  upstream_model: 'echo',
  endpoints: ['chat'],
  price_pkr_per_million: { input: 50_000_000n, output: 200_000_000n, cache_write: 0n, cache_read: 0n },
  byok_fee_percent: 0n,
  max_output_tokens: 4_096,
  allow: [],
  timeout_ms: 60_000,
  active: true,
};

const BUILT_IN_PROVIDER_VALUES = [BUILT_IN_PROVIDER, 'demo', null, null, 'max_completion_tokens', null, '[]'];

/** What came of applying a file, by name, each list in the file's order. */
export interface CatalogueChange {
  readonly providers: Changes;
  readonly routes: Changes & {
    /** Those that were in service and that the file does not name. */
    readonly deactivated: readonly string[];
  };
}

export interface Changes {
  readonly added: readonly string[];
  readonly changed: readonly { readonly name: string; readonly members: readonly string[] }[];
  readonly unchanged: readonly string[];
}

/**
 * Makes the file's routes the catalogue, in one transaction: those it names are put in or updated, the others become
 * inactive. Gateways read a route's row for each request, so it holds from the next one, everywhere.
 */
export function applyCatalogue(database: Database, catalogue: Catalogue): Promise<CatalogueChange> {
  return database.transaction(async (tx) => {
    await tx.run(queries.lockRoutes);
    return apply(tx, catalogue);
  });
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
      await tx.run(queries.upsertProvider, BUILT_IN_PROVIDER_VALUES);
      await tx.run(queries.insertBuiltInRoute, routeValues(DEMO_ROUTE));
    } else {
      await tx.run(queries.deactivateBuiltInRoutes);
    }
    return loaded;
  });
}

async function apply(tx: Transaction, catalogue: Catalogue): Promise<CatalogueChange> {
  await tx.run(queries.upsertProvider, BUILT_IN_PROVIDER_VALUES);
  const providers = await upsertAll(
    Object.entries(catalogue.providers).map(([name, provider]) => ({
      name,
      members: {
        protocol: provider.protocol,
        base_url: provider.base_url,
        api_key_env: provider.api_key_env ?? null,
        output_limit: provider.output_limit,
        deny: provider.deny ?? null,
        allow: provider.allow,
      },
    })),
    (await tx.many(queries.listProviders)).map(({ name, ...members }) => ({ name, members })),
    ({ name, members }) =>
      tx.run(queries.upsertProvider, [
        name,
        members.protocol,
        members.base_url,
        members.api_key_env,
        members.output_limit,
        members.deny && JSON.stringify(members.deny),
        JSON.stringify(members.allow),
      ]),
  );
  const routes = await upsertAll(
    catalogue.routes.map((route) => ({ name: route.id, members: routeMembers(route), route })),
    (await tx.many(queries.listRoutesWhole)).map(({ id, ...members }) => ({ name: id, members })),
    ({ route }) => tx.run(queries.upsertRoute, routeValues(route)),
  );
  const named = catalogue.routes.map((route) => route.id);
  const deactivated = await tx.many(queries.deactivateRoutesExcept, [named]);
  return { providers, routes: { ...routes, deactivated: deactivated.map(({ id }) => id).sort() } };
}

interface Named {
  readonly name: string;
  readonly members: Readonly<Record<string, unknown>>;
}

/** Writes what is new or differs, and says which is which. What is the same keeps its time of change. */
async function upsertAll<T extends Named>(
  wanted: readonly T[],
  found: readonly Named[],
  upsert: (one: T) => Promise<unknown>,
): Promise<Changes> {
  const before = new Map(found.map(({ name, members }) => [name, members]));
  const added: string[] = [];
  const changed: { name: string; members: string[] }[] = [];
  const unchanged: string[] = [];
  for (const one of wanted) {
    const old = before.get(one.name);
    const members = Object.keys(one.members).filter(
      (member) => !isDeepStrictEqual(comparable(one.members[member]), comparable(old?.[member])),
    );
    if (old && members.length === 0) {
      unchanged.push(one.name);
      continue;
    }
    await upsert(one);
    if (old) changed.push({ name: one.name, members });
    else added.push(one.name);
  }
  return { added, changed, unchanged };
}

/** A file's integers are numbers where a row's are bigints. */
function comparable(value: unknown): unknown {
  return typeof value === 'number' ? BigInt(value) : value;
}

/** As the file names them and the row holds them. */
function routeMembers(route: CatalogueRoute): Record<string, unknown> {
  const { price_pkr_per_million: price, ...rest } = route;
  return {
    provider: rest.provider,
    upstream_model: rest.upstream_model,
    endpoints: rest.endpoints,
    'price_pkr_per_million.input': price.input,
    'price_pkr_per_million.output': price.output,
    'price_pkr_per_million.cache_write': price.cache_write,
    'price_pkr_per_million.cache_read': price.cache_read,
    byok_fee_percent: rest.byok_fee_percent,
    max_output_tokens: rest.max_output_tokens,
    default_output_tokens: rest.default_output_tokens ?? null,
    min_output_tokens: rest.min_output_tokens ?? null,
    max_input_tokens: rest.max_input_tokens ?? null,
    allow: rest.allow,
    timeout_ms: rest.timeout_ms,
    active: rest.active,
    // One that the service had put in by itself becomes the file's.
    built_in: false,
  };
}

function routeValues(route: CatalogueRoute): unknown[] {
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
    route.default_output_tokens ?? null,
    route.min_output_tokens ?? null,
    route.max_input_tokens ?? null,
    JSON.stringify(route.allow),
  ];
}
