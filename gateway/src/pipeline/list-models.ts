import { listModels as listModelRows } from '../catalogue/queries.ts';
import { sendWhole } from '../http/answers.ts';
import type { Protocol } from '../protocols/protocol.ts';
import { authenticate } from '../steps/authenticate.ts';
import { checkExpiry } from '../steps/check-expiry.ts';
import { takeRate } from '../steps/take-rate.ts';
import type { Dependencies } from './dependencies.ts';
import type { Exchange } from './exchange.ts';
import { waitForPermit } from './permits.ts';

/**
 * `GET /v1/models`: the routes that this key may name and that can be used in the protocol, in OpenAI's form.
 * Takes from the key's rate.
 */
export async function listModels(
  protocol: Protocol,
  exchange: Exchange,
  dependencies: Dependencies,
): Promise<void> {
  const { database, rates } = dependencies;
  const { routes } = dependencies.permits;
  const key = await authenticate(exchange, dependencies);
  exchange.key = key;
  exchange.rate = await rates.peek(key.id, key.rateLimitRpm);
  checkExpiry(key);
  await takeRate(exchange, key, rates);
  const { organizationId } = key;
  using _ = routes.tryAcquire(organizationId) ?? (await waitForPermit(exchange, routes, organizationId));
  const rows = await listModelRows(database, key.allowedModels, protocol);
  const body = {
    object: 'list',
    data: rows.map((row) => ({
      id: row.id,
      object: 'model',
      created: Number(row.updatedAtSeconds),
      owned_by: row.provider,
    })),
  };
  sendWhole(
    exchange,
    200,
    { 'content-type': 'application/json; charset=utf-8' },
    Buffer.from(JSON.stringify(body)),
  );
}
