import { endpointsServedBy, type Surface } from '@gatehouse/contract';
import type { z } from 'zod';
import { BUILT_IN_PROVIDER, BUILT_IN_ROUTE, Provider, Route, surfacesOf } from './catalogue-file.ts';
import { flagIssues } from './flag-consistency.ts';
import { PROVIDER_FLAG_MEMBERS, statedFlags } from './provider-flags-file.ts';
import { sharedNames } from './route-names.ts';

const MAX_LISTED_NAMES = 20;

/** An issue that involves more than one member. */
export interface ConsistencyIssue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** Finds members that are valid on their own and contradict each other. Invalid members are ignored here. */
export function findInconsistencies(file: unknown): ConsistencyIssue[] {
  const providers = isMapping(file) && isMapping(file['providers']) ? file['providers'] : {};
  const routes = isMapping(file) && Array.isArray(file['routes']) ? (file['routes'] as unknown[]) : [];
  const found: ConsistencyIssue[] = [];
  if (Object.hasOwn(providers, BUILT_IN_PROVIDER)) {
    found.push({
      path: ['providers', BUILT_IN_PROVIDER],
      message: `the provider ${BUILT_IN_PROVIDER} is built in; route to it without declaring it`,
    });
  }
  for (const [name, provider] of Object.entries(providers)) {
    if (!isMapping(provider)) continue;
    const issues = flagIssues(
      validOf(PROVIDER_FLAG_MEMBERS, provider),
      provider['api_key_env'] !== undefined,
    );
    found.push(...issues.map(({ path, message }) => ({ path: ['providers', name, ...path], message })));
  }
  const known = nameList([...Object.keys(providers), BUILT_IN_PROVIDER]);
  const members = routes.map(validMembers);
  found.push(...sharedNames(members.map(({ id, aliases }) => ({ id, aliases }))));
  members.forEach((route, index) => {
    const { id, provider, endpoints } = route;
    const add = (member: string, message: string) => found.push({ path: ['routes', index, member], message });
    for (const [member, message] of tokenLimitIssues(route)) add(member, message);
    if (provider === undefined) return;
    const isBuiltIn = provider === BUILT_IN_PROVIDER;
    if (!isBuiltIn && !Object.hasOwn(providers, provider)) {
      add('provider', `is ${JSON.stringify(provider)}, which is not a provider; known are ${known}`);
      return;
    }
    if (id === BUILT_IN_ROUTE && !isBuiltIn) {
      add(
        'id',
        `the id ${BUILT_IN_ROUTE} is reserved for a built-in route; its provider is ${BUILT_IN_PROVIDER}`,
      );
    }
    const surfaces = isBuiltIn ? surfacesOf('demo', {}) : surfacesOfMember(providers[provider]);
    if (surfaces === undefined) return;
    const accepted = endpointsServedBy(surfaces);
    if (endpoints === undefined && accepted.length === 0) {
      add(
        'provider',
        `is ${provider}, which has only ${surfaces.join(', ')}; no endpoint can be served by it`,
      );
    }
    const unsupported = endpoints?.find((endpoint) => !accepted.includes(endpoint));
    if (unsupported !== undefined) {
      add(
        'endpoints',
        `the provider ${provider} has ${surfaces.join(', ')} and cannot serve ${unsupported}; accepted are ${accepted.join(', ') || 'none'}`,
      );
    }
  });
  return found;
}

function tokenLimitIssues({ max_output_tokens: max, ...route }: RouteMembers): [string, string][] {
  if (max === undefined) return [];
  return (['default_output_tokens', 'min_output_tokens'] as const).flatMap((member) => {
    const value = route[member];
    return value === undefined || value <= max
      ? []
      : [[member, `is ${value} and must be at most max_output_tokens, which is ${max}`]];
  });
}

type RouteMembers = Partial<z.output<typeof Route>>;

/** The members of a route that are valid on their own. */
function validMembers(route: unknown): RouteMembers {
  return isMapping(route) ? validOf(Route.shape, route) : {};
}

function validOf(shape: Readonly<Record<string, z.ZodType>>, members: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(
    Object.entries(shape).flatMap(([member, schema]) => {
      const result = schema.safeParse(members[member]);
      return result.success ? [[member, result.data]] : [];
    }),
  );
}

/** What a provider of the file can be asked for; undefined where its protocol or its surfaces are invalid. */
function surfacesOfMember(provider: unknown): readonly Surface[] | undefined {
  if (!isMapping(provider)) return undefined;
  const protocol = Provider.shape.protocol.safeParse(provider['protocol']);
  const surfaces = PROVIDER_FLAG_MEMBERS.surfaces.safeParse(provider['surfaces']);
  if (!protocol.success || !surfaces.success) return undefined;
  return surfacesOf(protocol.data, statedFlags({ surfaces: surfaces.data }));
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function nameList(names: readonly string[]): string {
  const others = names.length - MAX_LISTED_NAMES;
  return `${names.slice(0, MAX_LISTED_NAMES).join(', ')}${others > 0 ? ` and ${others} more` : ''}`;
}
