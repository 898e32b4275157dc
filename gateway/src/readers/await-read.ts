import { bodyNotReadInTime, bodyTooCostly, tooManyBodies } from '../errors/body-errors.ts';
import { type Exchange, stopped } from '../exchange/exchange.ts';
import { ReadError } from './reader-lane.ts';
import type { Read } from './reader-pool.ts';
import type { ReadResult } from './reads.ts';

/** The reading of a request body, unless the request must stop first. 413 or 503 where it cannot be read. */
export async function awaitRead<Result>(
  exchange: Pick<Exchange, 'onStop'>,
  read: Read<Result>,
): Promise<ReadResult<Result>> {
  exchange.onStop = (reason) => read.cancel(stopped(reason));
  try {
    return await read.done;
  } catch (error) {
    throw error instanceof ReadError ? toGatewayError(error) : error;
  } finally {
    exchange.onStop = undefined;
  }
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
