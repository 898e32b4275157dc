import { type Queued, QueueFull, QueueTimeout } from '@gatehouse/concurrency';
import { serviceUnavailableBecause } from '../errors/gateway-error.ts';
import { type Exchange, stopped } from './exchange.ts';

/** The answer; the request leaves the queue when it must not go on. 503 where it could not be sent in time. */
export async function awaitQueued<Answer>(
  exchange: Pick<Exchange, 'onStop' | 'throwIfStopped'>,
  queued: Queued<Answer>,
): Promise<Answer> {
  exchange.onStop = (reason) => queued.cancel(stopped(reason));
  try {
    return await queued.answer;
  } catch (error) {
    if (!(error instanceof QueueFull || error instanceof QueueTimeout)) throw error;
    throw serviceUnavailableBecause('too many requests wait for the database');
  } finally {
    exchange.onStop = undefined;
  }
}
