import { invalidRequest } from '../http/gateway-error.ts';
import { upstreamNotConfigured } from '../http/upstream-errors.ts';
import type { Context } from '../pipeline/context.ts';
import type { Dependencies } from '../pipeline/dependencies.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { chooseSurface } from '../protocols/choose-surface.ts';

/**
 * Chooses the surface. 400 if the provider has none that can serve the endpoint, 503 if it is not configured here. If the
 * organisation has stored its own key for the provider, the request uses that key or fails.
 */
export function findUpstream(
  { route, target, endpoint, call }: Pick<Context, 'route' | 'target' | 'endpoint' | 'call'>,
  _exchange: Exchange,
  { upstreams }: Pick<Dependencies, 'upstreams'>,
): Pick<Context, 'upstream' | 'surface' | 'isByok'> {
  const { provider } = target;
  const surface = chooseSurface(endpoint, provider.surfaces, call);
  if (!surface) {
    throw invalidRequest(
      `The provider of the model ${route.id} has only ${[...provider.surfaces.keys()].join(', ')}, which cannot serve this endpoint.`,
      'model',
    );
  }
  const upstream = upstreams.find(provider);
  if (!upstream) {
    throw upstreamNotConfigured(
      `The provider ${provider.name} has no usable base_url in this gateway's catalogue.`,
    );
  }
  return { upstream, surface, isByok: route.vaultRecords.has(provider.name) };
}
