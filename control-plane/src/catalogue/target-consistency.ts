import type { GatewayEndpoint, Surface } from '@gatehouse/contract';
import { endpointsServedBy } from '@gatehouse/contract';
import { commonEndpoints } from './common-endpoints.ts';

/** A target of the file, by the members that are valid on their own; where in the route it stands. */
export interface StatedTarget {
  /** Empty for the target that the route itself names. */
  readonly path: readonly PropertyKey[];
  readonly provider: string | undefined;
  readonly upstreamModel: string | undefined;
  readonly hasPrice: boolean;
}

export interface RouteIssue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** Members of a route's targets that are missing, or contradict each other or the route's other members. */
export function statedTwice(route: Readonly<Record<string, unknown>>): RouteIssue[] {
  if (route['targets'] === undefined) return [];
  return ['provider', 'upstream_model']
    .filter((member) => route[member] !== undefined)
    .map((member) => ({
      path: [member],
      message: 'cannot be stated beside targets, each of which names its own',
    }));
}

/** Two targets that are one: neither can stand in for the other. */
export function repeatedTargets(targets: readonly StatedTarget[]): RouteIssue[] {
  const seen = new Set<string>();
  return targets.flatMap(({ path, provider, upstreamModel }) => {
    if (provider === undefined || upstreamModel === undefined) return [];
    const target = JSON.stringify([provider, upstreamModel]);
    const isRepeated = seen.has(target);
    seen.add(target);
    return isRepeated
      ? [{ path, message: `the model ${upstreamModel} of ${provider} is a target already` }]
      : [];
  });
}

/** A price that neither the target nor the route states. */
export function missingPrices(targets: readonly StatedTarget[], isPriced: boolean): RouteIssue[] {
  if (isPriced) return [];
  return targets
    .filter(({ hasPrice }) => !hasPrice)
    .map(({ path }) => ({
      path: [...path, 'price_pkr_per_million'],
      message:
        path.length === 0
          ? 'is missing; must be a mapping of members'
          : 'is missing; must be a mapping of members, here or in the route, for all targets that state none',
    }));
}

/** Endpoints that some target of the route cannot serve: a request may go to any of them. */
export function unservedEndpoints(
  targets: readonly (StatedTarget & { readonly surfaces: readonly Surface[] })[],
  endpoints: readonly GatewayEndpoint[] | undefined,
): RouteIssue[] {
  if (endpoints === undefined) {
    if (commonEndpoints(targets.map(({ surfaces }) => surfaces)).length > 0) return [];
    const [only, ...others] = targets;
    if (only && others.length === 0)
      return [
        {
          path: [...only.path, 'provider'],
          message: `is ${only.provider}, which has only ${only.surfaces.join(', ')}; no endpoint can be served by it`,
        },
      ];
    const each = targets.map(({ provider, surfaces }) => `${provider} has ${surfaces.join(', ')}`);
    return only ? [{ path: ['targets'], message: `have no endpoint in common: ${each.join('; ')}` }] : [];
  }
  for (const { provider, surfaces } of targets) {
    const accepted = endpointsServedBy(surfaces);
    const unserved = endpoints.find((endpoint) => !accepted.includes(endpoint));
    if (unserved === undefined) continue;
    const message = `the provider ${provider} has ${surfaces.join(', ')} and cannot serve ${unserved}; accepted are ${accepted.join(', ') || 'none'}`;
    return [{ path: ['endpoints'], message }];
  }
  return [];
}
