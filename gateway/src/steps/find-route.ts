import { isStorableText } from '@gatehouse/contract';
import { nearestName } from '../catalogue/nearest-name.ts';
import { findRoute as findRouteRow, listNames } from '../catalogue/queries.ts';
import { type GatewayError, modelNotAllowed, modelNotFound } from '../http/gateway-error.ts';
import type { Context } from '../pipeline/context.ts';
import type { Dependencies } from '../pipeline/dependencies.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { waitForPermit } from '../pipeline/permits.ts';

// No route's id is longer; a caller's may be a megabyte.
const LONGEST_ID = 256;

type Needed = Pick<Context, 'key' | 'model'>;

/**
 * 404 unless the model is the id or an alias of an active route. Read for every request. A key that is restricted to
 * routes gets the 403 of a model that it may not use, so that it cannot tell which models exist.
 */
export async function findRoute(
  { key, model }: Needed,
  exchange: Exchange,
  { database, permits: { routes } }: Pick<Dependencies, 'database' | 'permits'>,
): Promise<Pick<Context, 'route' | 'target'>> {
  const { organizationId, allowedModels } = key;
  const isPossible = model.length <= LONGEST_ID && isStorableText(model);
  if (!isPossible) throw notFound({ key, model }, []);
  using _ = routes.tryAcquire(organizationId) ?? (await waitForPermit(exchange, routes, organizationId));
  const route = await findRouteRow(database, model, organizationId);
  if (route) return { route, target: route.targets[0] };
  throw notFound({ key, model }, await listNames(database, allowedModels));
}

function notFound({ key: { allowedModels }, model }: Needed, names: readonly string[]): GatewayError {
  if (allowedModels !== null && !allowedModels.includes(model)) return modelNotAllowed(model);
  return modelNotFound(model, nearestName(model, names));
}
