import type { IncomingHttpHeaders } from 'node:http';
import { hashGatewayKey, isWellFormedGatewayKey } from '@gatehouse/contract';
import { findKey } from '../catalogue/queries.ts';
import { invalidApiKey } from '../http/gateway-error.ts';
import type { Context } from '../pipeline/context.ts';
import type { Dependencies } from '../pipeline/dependencies.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { waitForPermit } from '../pipeline/permits.ts';

/**
 * 401 unless the request carries a key that exists and is not revoked. The row is read for every request and
 * never kept, so that revoking a key holds from the next one.
 */
export async function authenticate(
  _context: object,
  exchange: Exchange,
  { database, permits }: Pick<Dependencies, 'database' | 'permits'>,
): Promise<Pick<Context, 'key'>> {
  const secret = presentedKey(exchange.request.headers);
  if (secret === undefined) {
    throw invalidApiKey('No API key was provided. Send one as `Authorization: Bearer KEY`.');
  }
  if (!isWellFormedGatewayKey(secret)) throw invalidApiKey();
  const hash = hashGatewayKey(secret);
  const tenantId = hash.toString('latin1');
  using _ = permits.keys.tryAcquire(tenantId) ?? (await waitForPermit(exchange, permits.keys, tenantId));
  const key = await findKey(database, hash);
  if (!key) throw invalidApiKey();
  return { key };
}

/** A bearer token, or x-api-key, as Anthropic's clients send it. Two keys that differ leave open whose request it is. */
function presentedKey(headers: IncomingHttpHeaders): string | undefined {
  const bearer = /^bearer +(\S.*)$/i.exec(headers.authorization ?? '')?.[1];
  const apiKey = typeof headers['x-api-key'] === 'string' ? headers['x-api-key'] : '';
  if (bearer !== undefined && apiKey !== '' && bearer !== apiKey) {
    throw invalidApiKey('Authorization and x-api-key hold different keys. Send one, or the same in both.');
  }
  return bearer ?? (apiKey === '' ? undefined : apiKey);
}
