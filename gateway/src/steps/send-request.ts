import type { Context } from '../pipeline/context.ts';
import type { Dependencies } from '../pipeline/dependencies.ts';
import type { UpstreamCall, UpstreamListener } from '../upstreams/upstream.ts';

/** What is needed of a request that was admitted. */
export type DispatchContext = Pick<
  Context,
  | 'key'
  | 'isByok'
  | 'rate'
  | 'route'
  | 'target'
  | 'upstream'
  | 'apiKey'
  | 'outgoing'
  | 'loweredOutputCap'
  | 'heldBody'
>;

export type DispatchDependencies = Pick<
  Dependencies,
  'clock' | 'timers' | 'bodies' | 'readOns' | 'readers' | 'log'
>;

/** Sends the request. The memory of its body is given back once it is on its way. */
export function sendRequest(
  { outgoing, route, upstream, heldBody }: DispatchContext,
  listener: UpstreamListener,
): UpstreamCall {
  const { path, query, headers } = outgoing;
  return upstream.send(
    {
      path,
      query,
      headers,
      body: outgoing.takeBody(),
      timeoutMs: route.timeoutMs,
      onBodySent: () => heldBody.release(),
    },
    listener,
  );
}
