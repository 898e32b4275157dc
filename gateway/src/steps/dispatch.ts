import type { Ending } from '../pipeline/ending.ts';
import { type Dispatch, type DispatchParts, Relay } from './relay.ts';

/** Sends the request and resolves with how it ended. Of a stream, everything but its end has then been sent. */
export function dispatch(work: Dispatch, parts: DispatchParts): Promise<Ending> {
  work.exchange.throwIfStopped();
  const relay = new Relay(work, parts);
  work.exchange.dispatchedAtMs = parts.clock.monotonic();
  return relay.run();
}
