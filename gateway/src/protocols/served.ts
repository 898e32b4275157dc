import { DEFAULT_SURFACES, type Surface } from '@gatehouse/contract';
import { chooseSurface } from './choose-surface.ts';

/** The provider protocols at which a call of the endpoint can be served. */
export function protocolsServing(endpoint: Surface): readonly string[] {
  return Object.entries(DEFAULT_SURFACES)
    .filter(([, surfaces]) => chooseSurface(endpoint, surfaces) !== undefined)
    .map(([protocol]) => protocol);
}
