import type { Route } from '../catalogue/queries.ts';
import type { Dependencies } from '../pipeline/dependencies.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { Call, Protocol } from '../protocols/protocol.ts';
import { headersFor } from '../upstreams/headers.ts';
import type { UpstreamCall, UpstreamListener } from '../upstreams/upstream.ts';
import type { Destination } from './find-upstream.ts';
import { mostPromptTokens } from './usage-bounds.ts';

/** A request that was admitted, and where it goes. */
export interface Dispatch {
  readonly exchange: Exchange;
  readonly protocol: Protocol;
  readonly call: Call;
  readonly route: Route;
  readonly destination: Destination;
  readonly outputCap: number;
}

export type DispatchDependencies = Pick<Dependencies, 'clock' | 'timers' | 'bodies' | 'readOns' | 'readers'>;

/** Sends the caller's body, edited for the provider. Its memory is given back once it is on its way. */
export function sendRequest(
  { exchange, protocol, call, route, destination, outputCap }: Dispatch,
  listener: UpstreamListener,
): UpstreamCall {
  const body = call.upstreamBody(route.upstreamModel, outputCap, route.provider.outputLimit);
  exchange.heldBody?.resize(body.length);
  exchange.mostPromptTokens = mostPromptTokens(route, call, body.length);
  return destination.upstream.send(
    {
      path: protocol.upstreamPath,
      headers: headersFor(call.isStream, destination.apiKey),
      body,
      timeoutMs: route.timeoutMs,
      onBodySent: () => exchange.heldBody?.release(),
    },
    listener,
  );
}
