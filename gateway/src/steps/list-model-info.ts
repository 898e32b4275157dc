import { jsonOutcome } from '../discovery/json-outcome.ts';
import { modelInfoDocument } from '../discovery/model-info.ts';
import { MAX_MODELS } from '../discovery/page.ts';
import { listModelNames } from '../discovery/queries.ts';
import type { Context } from '../pipeline/context.ts';
import type { Dependencies } from '../pipeline/dependencies.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { waitForPermit } from '../pipeline/permits.ts';

/** `GET /v1/model/info`: the same models, as clients of LiteLLM ask for them. */
export async function listModelInfo(
  { key: { organizationId, allowedModels } }: Pick<Context, 'key'>,
  exchange: Exchange,
  { database, permits: { routes } }: Pick<Dependencies, 'database' | 'permits'>,
): Promise<Pick<Context, 'outcome'>> {
  using _ = routes.tryAcquire(organizationId) ?? (await waitForPermit(exchange, routes, organizationId));
  return jsonOutcome(modelInfoDocument(await listModelNames(database, allowedModels, { limit: MAX_MODELS })));
}
