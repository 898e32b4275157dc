import { type Exchange, stopped } from '../exchange.ts';
import { bodyTooLarge, encodedBody } from '../refusal.ts';

/** The whole body: 415 when it is compressed, 413 when it is too large, said or found. */
export async function readBody(exchange: Exchange, limitBytes: number): Promise<Buffer> {
  const { request, response } = exchange;
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') throw encodedBody();
  if (Number(request.headers['content-length'] ?? 0) > limitBytes) throw bodyTooLarge(limitBytes);
  exchange.throwIfStopped();
  if (exchange.expectsContinue) response.writeContinue();

  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let size = 0;
  const onData = (chunk: Buffer) => {
    size += chunk.length;
    if (size > limitBytes) reject(bodyTooLarge(limitBytes));
    else chunks.push(chunk);
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
