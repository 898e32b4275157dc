import type { ByteBlocks } from '../bodies/byte-blocks.ts';
import type { GatewayKey } from '../catalogue/queries.ts';
import { bodyNotReadInTime, bodyTooCostly, tooManyBodies, unusableBody } from '../http/body-refusals.ts';
import { type Exchange, stopped } from '../pipeline/exchange.ts';
import type { Parts } from '../pipeline/parts.ts';
import type { Call, Protocol } from '../protocols/protocol.ts';
import { ReadError } from '../readers/reader-pool.ts';

/**
 * 400 unless the body is a call of the endpoint that names a model, 413 when it has more structure than is read.
 * Notes the model and whether a stream is wanted, also of a call that is refused.
 */
export async function readModel(
  exchange: Exchange,
  { organizationId }: Pick<GatewayKey, 'organizationId'>,
  protocol: Protocol,
  callersBody: ByteBlocks,
  { readers }: Pick<Parts, 'readers'>,
): Promise<Call> {
  exchange.throwIfStopped();
  const read = readers.read(organizationId, 'request', protocol.endpoint, callersBody);
  exchange.onStop = (reason) => read.cancel(stopped(reason));
  const { result, body } = await read.done
    .catch((error: unknown) => {
      throw error instanceof ReadError ? refusalOf(error) : error;
    })
    .finally(() => {
      exchange.onStop = undefined;
    });
  const { model, isStream } = result.kind === 'read' ? result.facts : result;
  exchange.model = model;
  exchange.isStream = isStream;
  if (result.kind === 'refused') throw unusableBody(result.issue);
  return protocol.callOf(result.facts, body);
}

function refusalOf(error: ReadError): Error {
  switch (error.failure) {
    case 'queue_full':
    case 'not_begun_in_time':
      return tooManyBodies();
    case 'not_read_in_time':
      return bodyNotReadInTime();
    case 'too_large':
      return bodyTooCostly();
    case 'thread_ended':
      return error;
  }
}
