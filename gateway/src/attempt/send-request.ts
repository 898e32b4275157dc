import type { Context } from '../context/context.ts';
import type { Dependencies } from '../context/dependencies.ts';
import type { UpstreamCall, UpstreamListener } from '../providers/upstream.ts';

/** The facts that are needed of a request that is sent. */
export type DispatchContext = Pick<Context, 'key' | 'rate' | 'route' | 'heldBody' | 'sent'>;

/** How an attempt is bounded, and what follows from whether it is the last. */
export interface AttemptLimits {
  /** The rest of the route's time. */
  readonly timeoutMs: number;
  /** True if another attempt may follow, as long as nothing of this one's answer has been sent. */
  readonly canBeFollowed: boolean;
  /** To the first content; undefined where nothing but the route's time limit bounds it. */
  readonly contentTimeoutMs: number | undefined;
  /** Called when content has come: this attempt is the one that the caller sees. */
  readonly onContent: () => void;
}

export type DispatchDependencies = Pick<
  Dependencies,
  'clock' | 'timers' | 'bodies' | 'readOns' | 'readers' | 'log'
>;

/** Sends the request. The memory of its body is given back once it is on its way, unless another attempt needs it. */
export function sendRequest(
  { key, sent: { outgoing, candidate }, heldBody }: DispatchContext,
  { timeoutMs, canBeFollowed }: AttemptLimits,
  listener: UpstreamListener,
): UpstreamCall {
  const { path, query, headers } = outgoing;
  return candidate.upstream.send(
    {
      owner: key.organizationId,
      path,
      query,
      headers,
      body: outgoing.takeBody(),
      timeoutMs,
      onBodySent: () => {
        if (!canBeFollowed) heldBody.release();
      },
    },
    listener,
  );
}
