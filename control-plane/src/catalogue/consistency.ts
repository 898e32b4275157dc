import type { Surface } from '@gatehouse/contract';
import type { z } from 'zod';
import { BUILT_IN_PROVIDER, BUILT_IN_ROUTE, Provider, Route, surfacesOf } from './catalogue-file.ts';
import { connectionIssues } from './connection-consistency.ts';
import { credentialIssues } from './credentials-file.ts';
import { flagIssues } from './flag-consistency.ts';
import { PROVIDER_FLAG_MEMBERS, statedFlags } from './provider-flags-file.ts';
import { sharedNames } from './route-names.ts';
import {
  missingPrices,
  repeatedTargets,
  type StatedTarget,
  statedTwice,
  unservedEndpoints,
} from './target-consistency.ts';
import { MAX_TARGETS, TargetMembers } from './targets-file.ts';

const MAX_LISTED_NAMES = 20;

/** An issue that involves more than one member. */
export interface ConsistencyIssue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/**
 * Finds members that are valid on their own and contradict each other, or name files that cannot be used. Invalid members
 * are ignored here.
 */
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
    const hasKey = provider['api_key_env'] !== undefined || provider['credentials'] !== undefined;
    const flags = validOf(PROVIDER_FLAG_MEMBERS, provider);
    const issues = [
      ...credentialIssues(provider),
      ...flagIssues(flags, hasKey),
      ...connectionIssues(flags, provider['base_url']),
    ];
    found.push(...issues.map(({ path, message }) => ({ path: ['providers', name, ...path], message })));
  }
  const members = routes.map(validMembers);
  found.push(...sharedNames(members.map(({ id, aliases }) => ({ id, aliases }))));
  const known = nameList([...Object.keys(providers), BUILT_IN_PROVIDER]);
  routes.forEach((route, index) => {
    if (!isMapping(route)) return;
    const issues = routeIssues(route, members[index] ?? {}, providers, known);
    found.push(...issues.map(({ path, message }) => ({ path: ['routes', index, ...path], message })));
  });
  return found;
}

type Members = Readonly<Record<string, unknown>>;

/** Issues between the members of one route, given the providers of the file. */
function routeIssues(
  stated: Members,
  route: RouteMembers,
  providers: Members,
  known: string,
): ConsistencyIssue[] {
  const targets = statedTargets(stated, route);
  const found: ConsistencyIssue[] = [
    ...limitIssues(route),
    ...statedTwice(stated),
    ...repeatedTargets(targets),
    ...missingPrices(targets, stated['price_pkr_per_million'] !== undefined),
  ];
  if (stated['targets'] === undefined)
    for (const member of ['provider', 'upstream_model'] as const)
      if (stated[member] === undefined)
        found.push({ path: [member], message: 'is missing; must be text, or the route must have targets' });
  const isKnown = ({ provider }: StatedTarget) =>
    provider === undefined || provider === BUILT_IN_PROVIDER || Object.hasOwn(providers, provider);
  for (const target of targets) {
    const path = [...target.path, 'provider'];
    const name = JSON.stringify(target.provider);
    if (!isKnown(target))
      found.push({ path, message: `is ${name}, which is not a provider; known are ${known}` });
  }
  const isBuiltIn = targets.every(({ provider }) => provider === undefined || provider === BUILT_IN_PROVIDER);
  if (route.id === BUILT_IN_ROUTE && !isBuiltIn && targets.every(isKnown)) {
    const message = `the id ${BUILT_IN_ROUTE} is reserved for a built-in route; its provider is ${BUILT_IN_PROVIDER}`;
    found.push({ path: ['id'], message });
  }
  const served = targets.flatMap((target) => {
    const { provider } = target;
    if (provider === undefined || !isKnown(target)) return [];
    const surfaces =
      provider === BUILT_IN_PROVIDER ? surfacesOf('demo', {}) : surfacesOfMember(providers[provider]);
    return surfaces ? [{ ...target, surfaces }] : [];
  });
  const endpoints =
    stated['endpoints'] === undefined || route.endpoints ? unservedEndpoints(served, route.endpoints) : [];
  return [...found, ...endpoints];
}

/** The targets of a route; those that the route's list has, or the one that the route itself names. */
function statedTargets(stated: Members, route: RouteMembers): StatedTarget[] {
  const { targets } = stated;
  if (targets === undefined) {
    const { provider, upstream_model: upstreamModel } = route;
    return [{ path: [], provider, upstreamModel, hasPrice: false }];
  }
  if (!Array.isArray(targets)) return [];
  return targets.slice(0, MAX_TARGETS).map((target: unknown, index) => {
    const members = isMapping(target) ? target : {};
    const { provider, upstream_model: upstreamModel }: Partial<z.output<typeof TargetMembers>> = validOf(
      TargetMembers.shape,
      members,
    );
    const hasPrice = members['price_pkr_per_million'] !== undefined;
    return { path: ['targets', index], provider, upstreamModel, hasPrice };
  });
}

function limitIssues({
  max_output_tokens: max,
  timeout_ms: timeout,
  ...route
}: RouteMembers): ConsistencyIssue[] {
  const issue = (member: string, value: number, limit: string, most: number) => ({
    path: [member],
    message: `is ${value} and must be at most ${limit}, which is ${most}`,
  });
  const tokens = (['default_output_tokens', 'min_output_tokens'] as const).flatMap((member) => {
    const value = route[member];
    return value === undefined || max === undefined || value <= max
      ? []
      : [issue(member, value, 'max_output_tokens', max)];
  });
  const times = (['attempt_timeout_ms', 'queue_ms'] as const).flatMap((member) => {
    const value = route[member];
    return value === undefined || timeout === undefined || value <= timeout
      ? []
      : [issue(member, value, 'timeout_ms', timeout)];
  });
  return [...tokens, ...times];
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

/** The surfaces of a provider of the file; undefined where its protocol or its surfaces are invalid. */
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
