import type { IncomingHttpHeaders } from 'node:http';
import { hashGatewayKey, mayBeGatewayKey } from '@gatehouse/contract';
import type { Context } from '../context/context.ts';
import type { Dependencies } from '../context/dependencies.ts';
import { invalidApiKey } from '../errors/gateway-error.ts';
import { awaitQueued } from '../exchange/await-queued.ts';
import type { Exchange } from '../exchange/exchange.ts';

/**
 * 401 unless the request carries a key that exists and is not revoked. The row is read for every request, so that
 * revoking a key holds from the next one: here, or, where the facts of the key may be presumed, by the statement that
 * admits the request.
 */
export async function authenticate(
  { mayPresume }: Pick<Context, 'mayPresume'>,
  exchange: Exchange,
  { facts, keyReads }: Pick<Dependencies, 'facts' | 'keyReads'>,
): Promise<Pick<Context, 'key' | 'readWith'>> {
  const secret = presentedKey(exchange.request.headers);
  if (secret === undefined) {
    throw invalidApiKey('No API key was provided. Send one as `Authorization: Bearer KEY`.');
  }
  if (!mayBeGatewayKey(secret)) throw invalidApiKey();
  const hash = hashGatewayKey(secret);
  const presumed = mayPresume ? facts.presumedKey(hash) : undefined;
  if (presumed) {
    const { key, ...versions } = presumed;
    return { key, readWith: { ...versions, isPresumed: true } };
  }
  exchange.throwIfStopped();
  const read = await awaitQueued(exchange, keyReads.read(hash));
  facts.keepKey(hash, read);
  if (!read) throw invalidApiKey();
  const { key, ...versions } = read;
  return { key, readWith: { ...versions, isPresumed: false } };
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
