import { listModels as listModelRows } from '../catalogue/queries.ts';
import type { Context } from '../pipeline/context.ts';
import type { Dependencies } from '../pipeline/dependencies.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { waitForPermit } from '../pipeline/permits.ts';
import { protocolsServing } from '../protocols/served.ts';

/** `GET /v1/models`: the routes that this key may name and that can be used in the protocol, in OpenAI's form. */
export async function listModels(
  { key, endpoint }: Pick<Context, 'key' | 'endpoint'>,
  exchange: Exchange,
  { database, permits: { routes } }: Pick<Dependencies, 'database' | 'permits'>,
): Promise<Pick<Context, 'outcome'>> {
  const { organizationId } = key;
  using _ = routes.tryAcquire(organizationId) ?? (await waitForPermit(exchange, routes, organizationId));
  const rows = await listModelRows(database, key.allowedModels, {
    endpoint,
    protocols: protocolsServing(endpoint),
  });
  const body = {
    object: 'list',
    data: rows.map((row) => ({
      id: row.id,
      object: 'model',
      created: Number(row.updatedAtSeconds),
      owned_by: row.provider,
    })),
  };
  return {
    outcome: {
      kind: 'answered',
      status: 200,
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body: Buffer.from(JSON.stringify(body)),
      reading: undefined,
      upstreamError: null,
    },
  };
}
