import { isDeepStrictEqual } from 'node:util';
import type { ProviderFlags, StatedProviderFlags } from '@gatehouse/contract';
import type { Queryable } from '@gatehouse/store';
import type { Catalogue, CatalogueRoute } from './catalogue-file.ts';
import { ONLY_CREDENTIAL } from './credentials-file.ts';
import * as queries from './queries.ts';
import { settingsOf } from './route-settings.ts';
import {
  type StoredCredential,
  type StoredTarget,
  storedCredential,
  storedTarget,
} from './stored-targets.ts';

/** The changes of a file, by name; each list in the file's order. */
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

/** The changes that applying the file would make. Read-only. */
export async function compareCatalogue(source: Queryable, catalogue: Catalogue): Promise<Comparison> {
  const providerRows = await source.many(queries.listProviders);
  const providers = differences(
    Object.entries(catalogue.providers).map(([name, provider]) => ({
      name,
      members: {
        protocol: provider.protocol,
        base_url: provider.base_url,
        ...credentialMembers(provider.credentials.map(storedCredential)),
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
        ...credentialMembers(row.credentials),
        output_limit: row.outputLimit,
        ...flagMembers(row.flags),
        deny: row.deny,
        allow: row.allow,
      },
    })),
  );
  const routeRows = await source.many(queries.listRouteRows);
  const routes = routeDifferences(catalogue.routes, routeRows);
  const named = new Set(catalogue.routes.map(({ id }) => id));
  const deactivated = routeRows
    .filter(({ id, isActive, isBuiltIn }) => isActive && !isBuiltIn && !named.has(id))
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
  add: 'add',
  keep: 'keep',
  strictFields: 'strict_fields',
  betaHeaders: 'beta_headers',
  credential: 'credential',
  proxy: 'proxy',
  caFile: 'ca_file',
  clientCertFile: 'client_cert_file',
  clientKeyFile: 'client_key_file',
};

/** The flags by the file's member names; null where it states none. */
export function flagMembers(flags: StatedProviderFlags): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(FLAG_MEMBERS).map(([flag, member]) => [
      member,
      flags[flag as keyof ProviderFlags] ?? null,
    ]),
  );
}

/** By the file's members: the variable of the only credential, or the pool. */
function credentialMembers(credentials: readonly StoredCredential[]): Record<string, unknown> {
  const [first, ...others] = credentials;
  const isPool = first && (others.length > 0 || first.name !== ONLY_CREDENTIAL || first.weight !== 1);
  return isPool
    ? { api_key_env: null, credentials }
    : { api_key_env: first?.apiKeyEnv ?? null, credentials: null };
}

/** Targets are compared as one member where either side has a list of them, and otherwise by the members of the route. */
function routeDifferences(wanted: readonly CatalogueRoute[], found: readonly queries.RouteRow[]): Changes {
  const rows = new Map(found.map((row) => [row.id, row]));
  const wantedMembers: Named[] = [];
  const foundMembers: Named[] = [];
  for (const route of wanted) {
    const row = rows.get(route.id);
    const targets = route.targets.map(storedTarget);
    const isListed = isList(targets) || (row !== undefined && isList(row.targets));
    const membersOf = (these: readonly StoredTarget[]) =>
      isListed ? { targets: these } : targetMembers(these);
    wantedMembers.push({ name: route.id, members: { ...membersOf(targets), ...fileMembers(route) } });
    if (row) foundMembers.push({ name: row.id, members: { ...membersOf(row.targets), ...rowMembers(row) } });
  }
  return differences(wantedMembers, foundMembers);
}

/** True if a file can state them only as a list. */
function isList([first, ...others]: readonly StoredTarget[]): boolean {
  return first === undefined || others.length > 0 || first.weight !== 1 || first.priority !== 1;
}

function targetMembers([target]: readonly StoredTarget[]): Record<string, unknown> {
  return {
    provider: target?.provider,
    upstream_model: target?.upstreamModel,
    'price_pkr_per_million.input': target?.input,
    'price_pkr_per_million.output': target?.output,
    'price_pkr_per_million.cache_write': target?.cacheWrite,
    'price_pkr_per_million.cache_read': target?.cacheRead,
    'price_pkr_per_million.cache_write_1h': target?.cacheWrite1h,
    'price_pkr_per_million.tiers': target?.priceTiers,
    price_pkr_per_call: target?.pricePerCall,
    byok_fee_percent: target?.byokFeeMillionths,
  };
}

function fileMembers(route: CatalogueRoute): Readonly<Record<string, unknown>> {
  const { aliases, endpoints, active } = route;
  // A built-in route that the file names becomes the file's.
  return { aliases, endpoints, ...settingsOf(route), active, built_in: false };
}

function rowMembers(row: queries.RouteRow): Readonly<Record<string, unknown>> {
  const { aliases, endpoints, settings, isActive, isBuiltIn } = row;
  return { aliases, endpoints, ...settings, active: isActive, built_in: isBuiltIn };
}
