import type { Outcome } from '../pipeline/outcome.ts';
import { Relay } from './relay.ts';
import type { Dispatch, DispatchDependencies } from './send-request.ts';

/** Sends the request and resolves with how it ended. Of a stream, everything but its end has then been sent. */
export function dispatch(work: Dispatch, dependencies: DispatchDependencies): Promise<Outcome> {
  work.exchange.throwIfStopped();
  const relay = new Relay(work, dependencies);
  work.exchange.dispatchedAtMs = dependencies.clock.monotonic();
  return relay.run();
}
