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
import type { Context } from '../context/context.ts';
import type { Dependencies } from '../context/dependencies.ts';
import { StepRefusal } from '../context/step.ts';
import { StaleFacts } from '../credit/stale-facts.ts';
import { type GatewayError, modelNotAllowed, modelNotFound } from '../errors/gateway-error.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { waitForPermit } from '../exchange/permits.ts';

// No route's id is longer; a caller's may be a megabyte.
const MAX_ID_LENGTH = 256;

type Needed = Pick<Context, 'key' | 'model' | 'readWith'>;
type Reads = Pick<Dependencies, 'database' | 'permits' | 'facts'>;

/**
 * 404 unless the model is the id or an alias of an active route. The route, and the organisation's own keys for its
 * providers, are those of the versions that the key was read with; what was read before at these versions is still so.
 * 403 for a key that is restricted to routes, when the one that the model leads to is none of them, letter for letter. It gets the same
 * where there is no such model, so that it cannot tell which exist.
 */
export async function findRoute(
  needed: Needed,
  exchange: Exchange,
  dependencies: Reads,
): Promise<Pick<Context, 'route' | 'chosen' | 'presumed'> | StepRefusal> {
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
  const found = {
    route: withOwnKeys(route, records),
    chosen: { target: route.targets[0], isByok: false },
    presumed: isPresumed ? { catalogueVersion, vaultRevision, factsRevision } : undefined,
  };
  const isAllowed = key.allowedModels === null || key.allowedModels.includes(route.id);
  return isAllowed ? found : new StepRefusal(modelNotAllowed(model), found);
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
