import type { IncomingMessage } from 'node:http';
import { freeMemory } from '@gatehouse/http/free-memory';
import { MIN_PACE, watchPace } from '../bodies/body-pace.ts';
import { ByteBlocks } from '../bodies/byte-blocks.ts';
import { HeldBody, SMALL_BODY_BYTES } from '../bodies/held-body.ts';
import { intake } from '../bodies/intake.ts';
import type { Context } from '../context/context.ts';
import type { Dependencies } from '../context/dependencies.ts';
import { bodyTooLarge, bodyTooSlow, encodedBody, noRoomForBody } from '../errors/body-errors.ts';
import { type Exchange, stopped } from '../exchange/exchange.ts';

/**
 * The whole body: 415 when it is compressed, 413 when it is too large, said or found, 408 when it comes too slowly.
 * 503 when the bodies of all requests together, or of the key's organisation, are more than is kept: one key with
 * many large uploads must neither take the process down nor keep the others out.
 */
export async function readBody(
  {
    key: { organizationId },
    callersBody,
    heldBody,
    bodyError,
  }: { readonly key: Pick<Context['key'], 'organizationId'> } & Partial<
    Pick<Context, 'callersBody' | 'heldBody' | 'bodyError'>
  >,
  exchange: Exchange,
  {
    settings,
    bodies,
    smallBodies,
    timers,
  }: Pick<Dependencies, 'settings' | 'bodies' | 'smallBodies' | 'timers'>,
): Promise<Pick<Context, 'callersBody' | 'heldBody'>> {
  // An earlier run of the steps read it, or tried.
  if (bodyError !== undefined) throw bodyError;
  if (callersBody && heldBody) return { callersBody, heldBody };
  const { request, response } = exchange;
  const limitBytes = settings.bodyLimitBytes;
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') throw encodedBody();
  const announced = request.headers['content-length'];
  const announcedBytes = announced === undefined ? undefined : Number(announced);
  if ((announcedBytes ?? 0) > limitBytes) throw bodyTooLarge(limitBytes);
  exchange.throwIfStopped();
  if (exchange.expectsContinue) response.writeContinue();
  const held = new HeldBody({ bodies, smallBodies }, organizationId);
  const whole = announcedBytes === undefined ? undefined : smallBodyThatCame(request, announcedBytes);
  if (whole) {
    if (!held.resize(whole.length)) throw noRoomForBody();
    return { callersBody: ByteBlocks.of(whole), heldBody: held };
  }

  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const blocks = new ByteBlocks(announcedBytes, limitBytes);
  const onData = (chunk: Buffer) => {
    const { length } = chunk;
    if (blocks.length + length > limitBytes) {
      reject(bodyTooLarge(limitBytes));
    } else if (held.resize(blocks.heldBytesWith(length))) {
      blocks.append(chunk);
      freeMemory(chunk);
      if (blocks.length > SMALL_BODY_BYTES) intake.count(organizationId, request, length);
    } else {
      reject(noRoomForBody());
    }
  };
  const onEnd = () => resolve();
  request.on('data', onData);
  request.on('end', onEnd);
  exchange.onStop = (reason) => reject(stopped(reason));
  const unwatch = watchPace(
    timers,
    () => blocks.length,
    () => reject(bodyTooSlow(MIN_PACE)),
  );
  try {
    await promise;
  } catch (error) {
    blocks.free();
    held.release();
    throw error;
  } finally {
    unwatch();
    exchange.onStop = undefined;
    request.off('data', onData);
    request.off('end', onEnd);
  }
  held.resize(blocks.length);
  return { callersBody: blocks, heldBody: held };
}

/** The body, where all of it was received before it is asked for: nothing has to wait for it or watch its pace. */
function smallBodyThatCame(request: IncomingMessage, announcedBytes: number): Buffer | undefined {
  const isHere = request.complete && request.readableLength === announcedBytes;
  if (!isHere || announcedBytes > SMALL_BODY_BYTES) return undefined;
  return (request.read() as Buffer | null) ?? undefined;
}
