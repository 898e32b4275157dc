import type { z } from 'zod';
import { DetailBody, ErrorBody, InternalErrorBody, UnauthorizedBody } from './conventions/errors.ts';
import type { Endpoint } from './endpoint.ts';
import { BODY_LIMIT_BYTES } from './limits.ts';

/** A status other than success that an endpoint can answer with. */
export interface ErrorEntry {
  readonly status: number;
  readonly body: keyof typeof ERROR_BODIES;
  readonly when: string;
}

/** The bodies that an error can have, by the names that the entries use. */
export const ERROR_BODIES = {
  error: ErrorBody,
  detail: DetailBody,
  unauthorized: UnauthorizedBody,
  internal: InternalErrorBody,
} satisfies Record<string, z.ZodType>;

/** Every error of an endpoint: its own, and those that it shares with others like it. */
export function errorsOf(endpoint: Endpoint): ErrorEntry[] {
  const hasQuery = Object.keys(endpoint.query.shape).length > 0;
  const hasHeaders = Object.keys(endpoint.headers.shape).length > 0;
  const all: (ErrorEntry | false)[] = [
    (hasQuery || hasHeaders || endpoint.body !== undefined) && {
      status: 400,
      body: 'detail',
      when: `${[hasQuery && 'the query', hasHeaders && 'a header', endpoint.body && 'the body'].filter(Boolean).join(' or ')} does not have the required shape`,
    },
    {
      status: 401,
      body: 'unauthorized',
      when:
        endpoint.access === 'session'
          ? 'the access cookie is missing, expired or revoked, the account is deactivated, or a session cookie is repeated'
          : 'a session cookie is repeated',
    },
    endpoint.method !== 'GET' && {
      status: 403,
      body: 'error',
      when: 'a browser sent the request from another site',
    },
    endpoint.roles !== undefined && {
      status: 403,
      body: 'error',
      when: `the account's role is not ${endpoint.roles.join(' or ')}`,
    },
    endpoint.body !== undefined && {
      status: 413,
      body: 'error',
      when: `the body is larger than ${BODY_LIMIT_BYTES} bytes`,
    },
    endpoint.body !== undefined && {
      status: 415,
      body: 'detail',
      when: 'the body is not uncompressed `application/json` in UTF-8',
    },
    { status: 421, body: 'error', when: 'the host of the request is not served here' },
    { status: 500, body: 'internal', when: 'an internal error occurred' },
    { status: 503, body: 'error', when: 'the database is unavailable' },
    ...endpoint.errors,
  ];
  return all.filter((entry) => entry !== false).sort((a, b) => a.status - b.status);
}
