import type { Outcome } from '../pipeline/outcome.ts';
import { Relay } from './relay.ts';
import type { Dispatch, DispatchParts } from './send-request.ts';

/** Sends the request and resolves with how it ended. Of a stream, everything but its end has then been sent. */
export function dispatch(work: Dispatch, parts: DispatchParts): Promise<Outcome> {
  work.exchange.throwIfStopped();
  const relay = new Relay(work, parts);
  work.exchange.dispatchedAtMs = parts.clock.monotonic();
  return relay.run();
}
