import { type Exchange, stopped } from '../exchange.ts';
import type { Parts } from '../parts.ts';
import type { GatewayKey } from '../queries.ts';
import { bodyTooLarge, encodedBody, serviceUnavailable } from '../refusal.ts';

/**
 * The whole body: 415 when it is compressed, 413 when it is too large, said or found. 503 when the bodies of all
 * requests together, or of the key's organisation, are more than is kept: one key with many large uploads must
 * neither take the process down nor keep the others out.
 */
export async function readBody(
  exchange: Exchange,
  { organizationId }: Pick<GatewayKey, 'organizationId'>,
  { settings, bodies }: Pick<Parts, 'settings' | 'bodies'>,
): Promise<Buffer> {
  const { request, response } = exchange;
  const limitBytes = settings.bodyLimitBytes;
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') throw encodedBody();
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) throw bodyTooLarge(limitBytes);
  exchange.throwIfStopped();
  if (exchange.expectsContinue) response.writeContinue();

  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  const onData = (chunk: Buffer) => {
    if (exchange.bodyBytes + chunk.length > limitBytes) {
      reject(bodyTooLarge(limitBytes));
    } else if (bodies.take(organizationId, chunk.length)) {
      exchange.bodyBytes += chunk.length;
      chunks.push(chunk);
    } else {
      reject(serviceUnavailable());
    }
  };
  const onEnd = () => resolve(Buffer.concat(chunks));
  request.on('data', onData);
  request.on('end', onEnd);
  exchange.onStop = (reason) => reject(stopped(reason));
  try {
    return await promise;
  } finally {
    exchange.onStop = undefined;
    request.off('data', onData);
    request.off('end', onEnd);
  }
}
