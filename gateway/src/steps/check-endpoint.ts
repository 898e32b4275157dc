import type { Surface } from '@gatehouse/contract';
import type { Context } from '../context/context.ts';
import { modelOfOtherEndpoints } from '../errors/gateway-error.ts';

/** 404 unless the route serves the endpoint. Tokens are counted for whatever messages are answered. */
export function checkEndpoint({
  route,
  endpoint,
  model,
}: Pick<Context, 'route' | 'endpoint' | 'model'>): void {
  const needed: Surface = endpoint === 'count_tokens' ? 'messages' : endpoint;
  if (!route.endpoints.includes(needed)) throw modelOfOtherEndpoints(model, route.endpoints);
}
