import type { ByteBlocks } from '../bodies/byte-blocks.ts';
import type { GatewayKey } from '../catalogue/queries.ts';
import { bodyNotReadInTime, bodyTooCostly, tooManyBodies, unusableBody } from '../http/body-errors.ts';
import type { Dependencies } from '../pipeline/dependencies.ts';
import { type Exchange, stopped } from '../pipeline/exchange.ts';
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
  { readers }: Pick<Dependencies, 'readers'>,
): Promise<Call> {
  exchange.throwIfStopped();
  const read = readers.read(organizationId, 'request', protocol.endpoint, callersBody);
  exchange.onStop = (reason) => read.cancel(stopped(reason));
  const { result, body } = await read.done
    .catch((error: unknown) => {
      throw error instanceof ReadError ? toGatewayError(error) : error;
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

function toGatewayError(error: ReadError): Error {
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
