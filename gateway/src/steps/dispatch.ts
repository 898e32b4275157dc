import type { Context } from '../pipeline/context.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { Relay } from './relay.ts';
import type { DispatchContext, DispatchDependencies } from './send-request.ts';

/** Sends the request and resolves with how it ended. Of a stream, everything but its end has then been sent. */
export async function dispatch(
  context: DispatchContext,
  exchange: Exchange,
  dependencies: DispatchDependencies,
): Promise<Pick<Context, 'outcome'>> {
  exchange.throwIfStopped();
  const relay = new Relay(context, exchange, dependencies, {
    timeoutMs: context.route.timeoutMs,
    canBeFollowed: false,
    contentTimeoutMs: undefined,
    onContent: () => {},
  });
  exchange.dispatchedAtMs = dependencies.clock.monotonicMs();
  return { outcome: await relay.run() };
}
