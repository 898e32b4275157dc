import { DEFAULT_SURFACES, SURFACES, type Surface } from '@gatehouse/contract';
import { chooseSurface } from './choose-surface.ts';

/** Whether this gateway can serve a route with these endpoints, at a provider that speaks this protocol. */
export function canServe({
  protocol,
  endpoints,
}: {
  readonly protocol: string;
  readonly endpoints: readonly string[];
}): boolean {
  return SURFACES.some(
    (endpoint) => endpoints.includes(endpoint) && protocolsServing(endpoint).includes(protocol),
  );
}

/** The provider protocols at which a call of the endpoint can be served. */
export function protocolsServing(endpoint: Surface): readonly string[] {
  return Object.entries(DEFAULT_SURFACES)
    .filter(([, surfaces]) => chooseSurface(endpoint, surfaces) !== undefined)
    .map(([protocol]) => protocol);
}
