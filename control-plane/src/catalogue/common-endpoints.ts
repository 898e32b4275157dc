import { defaultEndpoints, endpointsServedBy, type GatewayEndpoint, type Surface } from '@gatehouse/contract';

/** The endpoints that every target of a route can serve, by the surfaces of their providers. */
export function commonEndpoints(surfaces: readonly (readonly Surface[])[]): readonly GatewayEndpoint[] {
  return inAll(surfaces.map(endpointsServedBy));
}

/**
 * The endpoints of a route that states none: what its targets have by default, or all that they can serve where that is
 * nothing. The built-in provider is there to try everything with.
 */
export function commonDefaultEndpoints(
  surfaces: readonly (readonly Surface[])[],
  isBuiltIn: boolean,
): readonly GatewayEndpoint[] {
  const defaults = isBuiltIn ? [] : inAll(surfaces.map(defaultEndpoints));
  return defaults.length > 0 ? defaults : commonEndpoints(surfaces);
}

function inAll([first = [], ...others]: readonly (readonly GatewayEndpoint[])[]): readonly GatewayEndpoint[] {
  return first.filter((endpoint) => others.every((list) => list.includes(endpoint)));
}
