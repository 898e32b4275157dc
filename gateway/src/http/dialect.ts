import type { IncomingMessage } from 'node:http';
import { pathOf } from '@gatehouse/http';
import type { GatewayError } from './gateway-error.ts';

/** The two error formats that clients read. */
export type Dialect = 'openai' | 'anthropic';

const ANTHROPIC_PATHS = /^(\/v1)*\/(messages|complete)(\/|$)/;

/** Which client sent this: by the path, and where both use it, by the header that only Anthropic's client sends. */
export function dialectOf(request: IncomingMessage): Dialect {
  const path = pathOf(request.url ?? '');
  if (ANTHROPIC_PATHS.test(path)) return 'anthropic';
  const isShared = path === '/' || !path.startsWith('/v1/') || path.startsWith('/v1/models');
  return isShared && request.headers['anthropic-version'] !== undefined ? 'anthropic' : 'openai';
}

const ANTHROPIC_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
};

/** The error body in the format of the dialect. */
export function errorBody(refusal: GatewayError, dialect: Dialect, requestId: string): string {
  if (dialect === 'openai') return refusal.bodyText;
  const { status, message } = refusal;
  const type = ANTHROPIC_TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
  return JSON.stringify({ type: 'error', error: { type, message }, request_id: requestId });
}
