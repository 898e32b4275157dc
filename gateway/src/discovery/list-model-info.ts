import type { Context } from '../context/context.ts';
import type { Dependencies } from '../context/dependencies.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { waitForPermit } from '../exchange/permits.ts';
import { jsonOutcome } from './json-outcome.ts';
import { modelInfoDocument } from './model-info.ts';
import { MAX_MODELS } from './page.ts';
import { listModelNames } from './queries.ts';

/** `GET /v1/model/info`: the same models, as clients of LiteLLM ask for them. */
export async function listModelInfo(
  { key: { organizationId, allowedModels } }: Pick<Context, 'key'>,
  exchange: Exchange,
  { database, permits: { routes } }: Pick<Dependencies, 'database' | 'permits'>,
): Promise<Pick<Context, 'outcome'>> {
  using _ = routes.tryAcquire(organizationId) ?? (await waitForPermit(exchange, routes, organizationId));
  return jsonOutcome(modelInfoDocument(await listModelNames(database, allowedModels, { limit: MAX_MODELS })));
}
