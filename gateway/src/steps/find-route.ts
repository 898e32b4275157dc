import { isStorableText } from '@gatehouse/contract';
import { findRoute as findRouteRow, type GatewayKey, type Route } from '../catalogue/queries.ts';
import { modelNotFound } from '../http/gateway-error.ts';
import type { Dependencies } from '../pipeline/dependencies.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { waitForPermit } from '../pipeline/permits.ts';

// No route's id is longer; a caller's may be a megabyte.
const LONGEST_ID = 256;

/**
 * 404 unless the model is the id of an active route that serves the endpoint. Read for every request, and
 * noted at once, so that the record of a request that is refused later says where it would have gone.
 */
export async function findRoute(
  exchange: Exchange,
  endpoint: string,
  { organizationId }: Pick<GatewayKey, 'organizationId'>,
  { database, permits: { routes } }: Pick<Dependencies, 'database' | 'permits'>,
): Promise<Route> {
  const { model } = exchange;
  const isPossible = model.length <= LONGEST_ID && isStorableText(model);
  if (!isPossible) throw modelNotFound(model);
  using _ = routes.tryAcquire(organizationId) ?? (await waitForPermit(exchange, routes, organizationId));
  const route = await findRouteRow(database, model, organizationId);
  if (!route?.endpoints.includes(endpoint)) throw modelNotFound(model);
  exchange.route = route;
  return route;
}
