import { isStorableText, MAX_ROUTE_ID_LENGTH } from '@gatehouse/contract';
import { pathOf } from '@gatehouse/http';
import { nearestName } from '../catalogue/nearest-name.ts';
import { listNames } from '../catalogue/queries.ts';
import type { Context } from '../context/context.ts';
import type { Dependencies } from '../context/dependencies.ts';
import { modelNotFound } from '../errors/gateway-error.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { waitForPermit } from '../exchange/permits.ts';
import { jsonOutcome } from './json-outcome.ts';
import { modelDocument, modelOf } from './model-document.ts';
import { findModelName } from './queries.ts';

/** `GET /v1/models/{id}`: 404 for what the key may not use, as for what does not exist. */
export async function showModel(
  { key: { organizationId, allowedModels } }: Pick<Context, 'key'>,
  exchange: Exchange,
  { database, permits: { routes } }: Pick<Dependencies, 'database' | 'permits'>,
): Promise<Pick<Context, 'outcome'>> {
  const name = nameIn(pathOf(exchange.request.url ?? ''));
  if (name.length > MAX_ROUTE_ID_LENGTH || !isStorableText(name)) throw modelNotFound(name, undefined);
  using _ = routes.tryAcquire(organizationId) ?? (await waitForPermit(exchange, routes, organizationId));
  const row = await findModelName(database, allowedModels, name);
  const model = row && modelOf(row);
  if (!model) throw modelNotFound(name, nearestName(name, await listNames(database, allowedModels)));
  return jsonOutcome(modelDocument(model));
}

/** Ids have slashes, which clients encode or do not. What is not encoded properly is no id. */
function nameIn(path: string): string {
  const text = path.slice('/v1/models/'.length);
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
