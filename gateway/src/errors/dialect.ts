import type { IncomingMessage } from 'node:http';
import { pathOf } from '@gatehouse/http';
import { anthropicError } from './anthropic-error.ts';
import type { GatewayError } from './gateway-error.ts';

/** The two error formats that clients read. */
export type Dialect = 'openai' | 'anthropic';

const ANTHROPIC_PATHS = /^(\/v1)*\/(messages|complete)(\/|$)/;
const OPENAI_PATHS = /^(\/v1)*\/(chat|completions|embeddings|responses)(\/|$)/;

/** The protocol of the client: by the path, and at any other than these, by the header that only Anthropic's client sends. */
export function dialectOf(request: IncomingMessage): Dialect {
  const path = pathOf(request.url ?? '');
  if (ANTHROPIC_PATHS.test(path)) return 'anthropic';
  if (OPENAI_PATHS.test(path)) return 'openai';
  return request.headers['anthropic-version'] === undefined ? 'openai' : 'anthropic';
}

/** The error body in the format of the dialect. */
export function errorBody(refusal: GatewayError, dialect: Dialect, requestId: string): string {
  return dialect === 'openai' ? refusal.bodyText : anthropicError(refusal, requestId);
}
