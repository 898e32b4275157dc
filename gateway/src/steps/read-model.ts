import { bodyNotReadInTime, bodyTooCostly, tooManyBodies } from '../http/body-errors.ts';
import type { Context } from '../pipeline/context.ts';
import type { Dependencies } from '../pipeline/dependencies.ts';
import { type Exchange, stopped } from '../pipeline/exchange.ts';
import { createCall } from '../protocols/call.ts';
import { ReadError } from '../readers/reader-pool.ts';

/**
 * Reads what the body asks for, in a reader thread if it is large. The model and whether a stream is wanted are returned
 * also for a body that `checkBody` refuses.
 */
export async function readModel(
  { key, endpoint, callersBody }: Pick<Context, 'key' | 'endpoint' | 'callersBody'>,
  exchange: Exchange,
  { readers }: Pick<Dependencies, 'readers'>,
): Promise<Pick<Context, 'model' | 'isStream' | 'parsedBody'>> {
  exchange.throwIfStopped();
  const read = readers.read(key.organizationId, 'request', endpoint, callersBody);
  exchange.onStop = (reason) => read.cancel(stopped(reason));
  const { result, body } = await read.done
    .catch((error: unknown) => {
      throw error instanceof ReadError ? toGatewayError(error) : error;
    })
    .finally(() => {
      exchange.onStop = undefined;
    });
  if (result.kind === 'refused') {
    const { model, isStream, issue } = result;
    return { model, isStream, parsedBody: { kind: 'refused', issue } };
  }
  const { model, isStream } = result.facts;
  return { model, isStream, parsedBody: { kind: 'call', call: createCall(result.facts, body) } };
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
