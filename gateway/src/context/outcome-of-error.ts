import { CallerGone } from '../errors/gateway-error.ts';
import { toGatewayError } from '../errors/to-gateway-error.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Learned } from './context.ts';
import type { Dependencies } from './dependencies.ts';
import { CALLER_GONE_STATUS, type Outcome } from './outcome.ts';

/** The outcome that an error amounts to. */
export function outcomeOfError(
  error: unknown,
  { sent }: Learned,
  exchange: Exchange,
  { log }: Pick<Dependencies, 'log'>,
): Outcome {
  const { response } = exchange;
  const aborted = {
    kind: 'aborted',
    reading: undefined,
    isStream: false,
    isComplete: false,
    hasWork: false,
    isReadOn: false,
    finalEvent: undefined,
  } as const;
  if (error instanceof CallerGone) {
    return { ...aborted, status: CALLER_GONE_STATUS, termination: 'client_disconnect', upstreamError: null };
  }
  const refused = toGatewayError(error, exchange, log);
  if (!response.headersSent) return { kind: 'refused', error: refused };
  return {
    ...aborted,
    status: response.statusCode,
    termination: 'upstream_stream_aborted',
    upstreamError: null,
    finalEvent: sent?.outgoing.streamError(refused, exchange.id),
  };
}
