import type { GatewayError } from './gateway-error.ts';

const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

/** An error in the form that Anthropic's clients read: the body of an answer, or the data of a stream's `error` event. */
export function anthropicError(
  { status, message }: Pick<GatewayError, 'status' | 'message'>,
  requestId: string,
): string {
  const type = TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
  return JSON.stringify({ type: 'error', error: { type, message }, request_id: requestId });
}
