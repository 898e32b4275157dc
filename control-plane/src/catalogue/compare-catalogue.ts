import { isDeepStrictEqual } from 'node:util';
import type { ProviderFlags, StatedProviderFlags } from '@gatehouse/contract';
import type { Queryable } from '@gatehouse/store';
import type { Catalogue, CatalogueRoute } from './catalogue-file.ts';
import * as queries from './queries.ts';
import { storedCallPrices, storedTier } from './stored-prices.ts';

/** What a file changes, by name; each list in the file's order. */
export interface CatalogueChange {
  readonly providers: Changes;
  readonly routes: Changes & {
    /** Active routes that the file does not name. */
    readonly deactivated: readonly string[];
  };
}

export interface Changes {
  readonly added: readonly string[];
  readonly changed: readonly { readonly name: string; readonly members: readonly string[] }[];
  readonly unchanged: readonly string[];
}

export interface Comparison {
  readonly change: CatalogueChange;
  /** The file's providers and routes that are new or changed. */
  readonly providers: readonly string[];
  readonly routes: readonly CatalogueRoute[];
}

/** What applying the file would change. Read-only. */
export async function compareCatalogue(source: Queryable, catalogue: Catalogue): Promise<Comparison> {
  const providerRows = await source.many(queries.listProviders);
  const providers = differences(
    Object.entries(catalogue.providers).map(([name, provider]) => ({
      name,
      members: {
        protocol: provider.protocol,
        base_url: provider.base_url,
        api_key_env: provider.api_key_env ?? null,
        output_limit: provider.output_limit,
        ...flagMembers(provider.flags),
        deny: provider.deny ?? null,
        allow: provider.allow,
      },
    })),
    providerRows.map((row) => ({
      name: row.name,
      members: {
        protocol: row.protocol,
        base_url: row.baseUrl,
        api_key_env: row.apiKeyEnv,
        output_limit: row.outputLimit,
        ...flagMembers(row.flags),
        deny: row.deny,
        allow: row.allow,
      },
    })),
  );
  const routeRows = await source.many(queries.listRouteRows);
  const routes = differences(
    catalogue.routes.map((route) => ({ name: route.id, members: fileMembers(route) })),
    routeRows.map((row) => ({ name: row.id, members: rowMembers(row) })),
  );
  const named = new Set(catalogue.routes.map(({ id }) => id));
  const deactivated = routeRows
    .filter(({ id, isActive, isBuiltin }) => isActive && !isBuiltin && !named.has(id))
    .map(({ id }) => id)
    .sort();
  const toWrite = new Set(namesOf(routes));
  return {
    change: { providers, routes: { ...routes, deactivated } },
    providers: namesOf(providers),
    routes: catalogue.routes.filter(({ id }) => toWrite.has(id)),
  };
}

function namesOf({ added, changed }: Changes): string[] {
  return [...added, ...changed.map(({ name }) => name)];
}

interface Named {
  readonly name: string;
  readonly members: Readonly<Record<string, unknown>>;
}

function differences(wanted: readonly Named[], found: readonly Named[]): Changes {
  const before = new Map(found.map(({ name, members }) => [name, members]));
  const added: string[] = [];
  const changed: { name: string; members: string[] }[] = [];
  const unchanged: string[] = [];
  for (const { name, members } of wanted) {
    const old = before.get(name);
    const differing = Object.keys(members).filter(
      (member) => !isDeepStrictEqual(comparable(members[member]), comparable(old?.[member])),
    );
    if (!old) added.push(name);
    else if (differing.length > 0) changed.push({ name, members: differing });
    else unchanged.push(name);
  }
  return { added, changed, unchanged };
}

/** Integers are numbers in a file and bigints in a row. */
function comparable(value: unknown): unknown {
  return typeof value === 'number' ? BigInt(value) : value;
}

const FLAG_MEMBERS: Readonly<Record<keyof ProviderFlags, string>> = {
  auth: 'auth',
  headers: 'headers',
  query: 'query',
  surfaces: 'surfaces',
  streamUsage: 'stream_usage',
  drop: 'drop',
  keep: 'keep',
  strictFields: 'strict_fields',
  betaHeaders: 'beta_headers',
};

/** The flags by the file's member names; null where it states none. */
function flagMembers(flags: StatedProviderFlags): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(FLAG_MEMBERS).map(([flag, member]) => [
      member,
      flags[flag as keyof ProviderFlags] ?? null,
    ]),
  );
}

/** What is compared of a route, by the file's member names. */
type RouteMembers = Readonly<Record<keyof ReturnType<typeof rowMembers>, unknown>>;

function fileMembers(route: CatalogueRoute): RouteMembers {
  const price = route.price_pkr_per_million;
  return {
    provider: route.provider,
    upstream_model: route.upstream_model,
    aliases: route.aliases,
    endpoints: route.endpoints,
    'price_pkr_per_million.input': price.input,
    'price_pkr_per_million.output': price.output,
    'price_pkr_per_million.cache_write': price.cache_write,
    'price_pkr_per_million.cache_read': price.cache_read,
    'price_pkr_per_million.cache_write_1h': price.cache_write_1h,
    'price_pkr_per_million.tiers': price.tiers.map(storedTier),
    price_pkr_per_call: storedCallPrices(route),
    byok_fee_percent: route.byok_fee_percent,
    max_output_tokens: route.max_output_tokens,
    default_output_tokens: route.default_output_tokens ?? null,
    min_output_tokens: route.min_output_tokens ?? null,
    max_input_tokens: route.max_input_tokens ?? null,
    allow: route.allow,
    timeout_ms: route.timeout_ms,
    active: route.active,
    // A built-in route that the file names becomes the file's.
    built_in: false,
  };
}

function rowMembers(row: queries.RouteRow) {
  return {
    provider: row.provider,
    upstream_model: row.upstreamModel,
    aliases: row.aliases,
    endpoints: row.endpoints,
    'price_pkr_per_million.input': row.inputMicroPkrPerMillion,
    'price_pkr_per_million.output': row.outputMicroPkrPerMillion,
    'price_pkr_per_million.cache_write': row.cacheWriteMicroPkrPerMillion,
    'price_pkr_per_million.cache_read': row.cacheReadMicroPkrPerMillion,
    'price_pkr_per_million.cache_write_1h': row.cacheWrite1hMicroPkrPerMillion,
    'price_pkr_per_million.tiers': row.priceTiers,
    price_pkr_per_call: row.pricePerCall,
    byok_fee_percent: row.byokFeeMillionths,
    max_output_tokens: row.maxOutputTokens,
    default_output_tokens: row.defaultOutputTokens,
    min_output_tokens: row.minOutputTokens,
    max_input_tokens: row.maxInputTokens,
    allow: row.allow,
    timeout_ms: row.timeoutMs,
    active: row.isActive,
    built_in: row.isBuiltin,
  };
}
