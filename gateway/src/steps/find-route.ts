import { isStorableText } from '@gatehouse/contract';
import { nearestName } from '../catalogue/nearest-name.ts';
import { withOwnKeys } from '../catalogue/own-keys.ts';
import {
  findRoute as findRouteRow,
  listNames,
  type ReadRoute,
  type ReadVault,
  readVault,
} from '../catalogue/queries.ts';
import { StaleFacts } from '../credit/stale-facts.ts';
import { type GatewayError, modelNotAllowed, modelNotFound } from '../http/gateway-error.ts';
import type { Context } from '../pipeline/context.ts';
import type { Dependencies } from '../pipeline/dependencies.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { waitForPermit } from '../pipeline/permits.ts';

// No route's id is longer; a caller's may be a megabyte.
const MAX_ID_LENGTH = 256;

type Needed = Pick<Context, 'key' | 'model' | 'readWith'>;
type Reads = Pick<Dependencies, 'database' | 'permits' | 'facts'>;

/**
 * 404 unless the model is the id or an alias of an active route. The route, and the organisation's own keys for its
 * providers, are those of the versions that the key was read with; what was read before at these versions is still so.
 * A key that is restricted to routes gets the 403 of a model that it may not use, so that it cannot tell which exist.
 */
export async function findRoute(
  needed: Needed,
  exchange: Exchange,
  dependencies: Reads,
): Promise<Pick<Context, 'route' | 'target' | 'presumed'>> {
  const { key, model, readWith } = needed;
  const isPossible = model.length <= MAX_ID_LENGTH && isStorableText(model);
  if (!isPossible) throw notFound(needed, []);
  const { facts } = dependencies;
  const { route, catalogueVersion } =
    facts.route(model, readWith.catalogueVersion) ?? (await readRoute(needed, exchange, dependencies));
  const { records, vaultRevision } =
    facts.vault(key.organizationId, readWith.vaultRevision) ??
    (await readRecords(needed, exchange, dependencies));
  const { factsRevision, isPresumed } = readWith;
  // What the key says of its project is of that revision.
  if (isPresumed && vaultRevision !== readWith.vaultRevision) throw new StaleFacts();
  return {
    route: withOwnKeys(route, records),
    target: route.targets[0],
    presumed: isPresumed ? { catalogueVersion, vaultRevision, factsRevision } : undefined,
  };
}

async function readRoute(needed: Needed, exchange: Exchange, reads: Reads): Promise<ReadRoute> {
  const { key, model } = needed;
  using _ = await permitOf(needed, exchange, reads);
  const read = await findRouteRow(reads.database, model);
  if (!read) throw notFound(needed, await listNames(reads.database, key.allowedModels));
  reads.facts.keepRoute(model, read);
  return read;
}

async function readRecords(needed: Needed, exchange: Exchange, reads: Reads): Promise<ReadVault> {
  const { organizationId } = needed.key;
  using _ = await permitOf(needed, exchange, reads);
  const read = await readVault(reads.database, organizationId);
  reads.facts.keepVault(organizationId, read);
  return read;
}

function permitOf({ key: { organizationId } }: Needed, exchange: Exchange, { permits: { routes } }: Reads) {
  return routes.tryAcquire(organizationId) ?? waitForPermit(exchange, routes, organizationId);
}

function notFound({ key: { allowedModels }, model }: Needed, names: readonly string[]): GatewayError {
  if (allowedModels !== null && !allowedModels.includes(model)) return modelNotAllowed(model);
  return modelNotFound(model, nearestName(model, names));
}
