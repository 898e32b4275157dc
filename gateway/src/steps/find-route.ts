import { isStorableText } from '@gatehouse/contract';
import { findRoute as findRouteRow } from '../catalogue/queries.ts';
import { modelNotFound } from '../http/gateway-error.ts';
import type { Context } from '../pipeline/context.ts';
import type { Dependencies } from '../pipeline/dependencies.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { waitForPermit } from '../pipeline/permits.ts';

// No route's id is longer; a caller's may be a megabyte.
const LONGEST_ID = 256;

/**
 * 404 unless the model is the id of an active route that serves the endpoint. Read for every request.
 */
export async function findRoute(
  { key: { organizationId }, model, endpoint }: Pick<Context, 'key' | 'model' | 'endpoint'>,
  exchange: Exchange,
  { database, permits: { routes } }: Pick<Dependencies, 'database' | 'permits'>,
): Promise<Pick<Context, 'route'>> {
  const isPossible = model.length <= LONGEST_ID && isStorableText(model);
  if (!isPossible) throw modelNotFound(model);
  using _ = routes.tryAcquire(organizationId) ?? (await waitForPermit(exchange, routes, organizationId));
  const route = await findRouteRow(database, model, organizationId);
  if (!route?.endpoints.includes(endpoint)) throw modelNotFound(model);
  return { route };
}
