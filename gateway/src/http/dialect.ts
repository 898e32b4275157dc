import type { IncomingMessage } from 'node:http';
import { pathOf } from '@gatehouse/http';
import { anthropicError } from './anthropic-error.ts';
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

/** The error body in the format of the dialect. */
export function errorBody(refusal: GatewayError, dialect: Dialect, requestId: string): string {
  return dialect === 'openai' ? refusal.bodyText : anthropicError(refusal, requestId);
}
