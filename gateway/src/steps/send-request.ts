import type { Context } from '../pipeline/context.ts';
import type { Dependencies } from '../pipeline/dependencies.ts';
import { headersFor } from '../upstreams/headers.ts';
import type { UpstreamCall, UpstreamListener } from '../upstreams/upstream.ts';
import { mostPromptTokens } from './usage-bounds.ts';

/** What is needed of a request that was admitted. */
export type DispatchContext = Pick<
  Context,
  | 'key'
  | 'rate'
  | 'protocol'
  | 'call'
  | 'route'
  | 'upstream'
  | 'apiKey'
  | 'outputCap'
  | 'loweredOutputCap'
  | 'heldBody'
>;

/** The request at the provider. */
export interface SentRequest extends Pick<Context, 'mostPromptTokens'> {
  readonly upstreamCall: UpstreamCall;
}

export type DispatchDependencies = Pick<Dependencies, 'clock' | 'timers' | 'bodies' | 'readOns' | 'readers'>;

/** Sends the caller's body, edited for the provider. Its memory is given back once it is on its way. */
export function sendRequest(
  { protocol, call, route, upstream, apiKey, outputCap, heldBody }: DispatchContext,
  listener: UpstreamListener,
): SentRequest {
  const body = call.upstreamBody(route.upstreamModel, outputCap, route.provider.outputLimit);
  heldBody.resize(body.length);
  const sentBytes = body.length;
  const upstreamCall = upstream.send(
    {
      path: protocol.upstreamPath,
      headers: headersFor(call.isStream, apiKey),
      body,
      timeoutMs: route.timeoutMs,
      onBodySent: () => heldBody.release(),
    },
    listener,
  );
  return { upstreamCall, mostPromptTokens: mostPromptTokens(route, call, sentBytes) };
}
