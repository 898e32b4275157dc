import type { Context } from '../context/context.ts';
import type { Dependencies } from '../context/dependencies.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { waitForPermit } from '../exchange/permits.ts';
import { jsonOutcome } from './json-outcome.ts';
import { modelsDocument } from './model-document.ts';
import { readPage } from './page.ts';
import { listModelNames } from './queries.ts';

/** `GET /v1/models`: the routes that this key may use, and their aliases. */
export async function listModels(
  { key: { organizationId, allowedModels } }: Pick<Context, 'key'>,
  exchange: Exchange,
  { database, permits: { routes } }: Pick<Dependencies, 'database' | 'permits'>,
): Promise<Pick<Context, 'outcome'>> {
  const page = readPage(exchange.request.url ?? '');
  using _ = routes.tryAcquire(organizationId) ?? (await waitForPermit(exchange, routes, organizationId));
  // One more tells whether there are more.
  const found = await listModelNames(database, allowedModels, { ...page, limit: page.limit + 1 });
  const isBackward = page.before !== undefined && page.after === undefined;
  const rows = isBackward ? found.slice(-page.limit) : found.slice(0, page.limit);
  return jsonOutcome(modelsDocument(rows, found.length > page.limit));
}
