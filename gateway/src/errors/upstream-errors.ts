import { GatewayError, NO_RETRY } from './gateway-error.ts';

// The errors that a provider can cause.

export function upstreamFailed(message: string, upstreamError: string): GatewayError {
  return new GatewayError({
    status: 502,
    type: 'upstream_error',
    code: 'upstream_error',
    message,
    upstreamError,
    termination: 'upstream_stream_aborted',
  });
}

/** 502 for a provider that rejects the platform's own credential. */
export function credentialRejected(provider: string, status: number): GatewayError {
  return new GatewayError({
    status: 502,
    type: 'upstream_error',
    code: 'upstream_error',
    message: `The provider ${provider} rejected this gateway's credential. The operator of the gateway has to fix it; your own key is valid.`,
    headers: NO_RETRY,
    upstreamError: `answered ${status} to the platform's credential`,
  });
}

/** 503 for a provider that was never asked, because this gateway is not set up for it. */
export function upstreamNotConfigured(message: string): GatewayError {
  return new GatewayError({
    status: 503,
    type: 'upstream_error',
    code: 'upstream_not_configured',
    message,
    headers: NO_RETRY,
    upstreamError: message,
  });
}

/** 503 while every provider of the model has said that it must not be asked now. */
export function upstreamUnavailable(model: string, retryAfterSeconds: number): GatewayError {
  return new GatewayError({
    status: 503,
    type: 'upstream_error',
    code: 'upstream_unavailable',
    message: `No provider of the model ${model} takes requests now. Try again in ${retryAfterSeconds} s.`,
    headers: { 'retry-after': String(retryAfterSeconds) },
    upstreamError: 'all upstreams are waiting as their providers asked',
  });
}

export function upstreamTimedOut(timeoutMs: number): GatewayError {
  return new GatewayError({
    status: 504,
    type: 'upstream_error',
    code: 'upstream_timeout',
    message: `The provider did not answer within the model's time limit of ${timeoutMs} ms.`,
    upstreamError: 'timed out',
    termination: 'proxy_guillotine',
  });
}
