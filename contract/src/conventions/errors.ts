import { z } from 'zod';

/** One problem with the shape of a request, in the reply's `detail` list. */
export interface Issue {
  /** The path of the field: `["body", "name"]`, `["query", "limit"]`, `["header", "content-type"]`. */
  readonly loc: readonly (string | number)[];
  /** A sentence for people: what was wrong and what is accepted. */
  readonly msg: string;
  /** The kind of issue, for programs. */
  readonly type: string;
}

/** The three bodies an error can have, as schemas. */
export const ErrorBody = z.strictObject({ error: z.string() }).meta({ id: 'Error' });
export const UnauthorizedBody = z
  .strictObject({ detail: z.literal('Unauthorized') })
  .meta({ id: 'Unauthorized' });
export const DetailBody = z
  .strictObject({
    detail: z
      .array(
        z.strictObject({
          loc: z.array(z.union([z.string(), z.int()])),
          msg: z.string(),
          type: z.string(),
        }),
      )
      .min(1),
  })
  .meta({ id: 'Detail' });
export const InternalErrorBody = z
  .strictObject({ error: z.literal('internal error'), request_id: z.string() })
  .meta({ id: 'InternalError' });

/**
 * An expected outcome other than success, with the status, body and headers of its answer. Made by the functions below.
 * It stands here and not in `@gatehouse/http` because parsing by contract throws it, and the contract imports no
 * workspace. It has no stack trace: under load, capturing one costs more than the rest of a 401, 429 or 503.
 */
export class ApiError extends Error {
  override readonly name: string = 'ApiError';
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  #bodyText: string | undefined;

  constructor(
    status: number,
    body: Readonly<Record<string, unknown>>,
    headers: Readonly<Record<string, string>> = {},
  ) {
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    super();
    Error.stackTraceLimit = limit;
    this.status = status;
    this.body = body;
    this.headers = headers;
  }

  /** The body as JSON, serialised once. */
  get bodyText(): string {
    this.#bodyText ??= JSON.stringify(this.body);
    return this.#bodyText;
  }

  /** For tests and logs; built when it is read. */
  override get message(): string {
    return `${this.status} ${this.bodyText}`;
  }
}

const UNAUTHORIZED = new ApiError(401, { detail: 'Unauthorized' });

/** 400: the request does not have the required shape. Lists every issue. */
export function invalid(issues: readonly Issue[]): ApiError {
  return new ApiError(400, { detail: issues });
}

/** 400: the shape is right but a rule forbids it. */
export function badRequest(sentence: string): ApiError {
  return new ApiError(400, { error: sentence });
}

/** 401: there is no valid session. */
export function unauthorized(): ApiError {
  return UNAUTHORIZED;
}

/** 401 of the sign-in endpoints: the identity was not proven. */
export function notAuthenticated(sentence: string): ApiError {
  return new ApiError(401, { error: sentence });
}

export function forbidden(sentence: string): ApiError {
  return new ApiError(403, { error: sentence });
}

/** 403 for an account whose role does not allow the call, in the specification's words. */
export function roleRequired(roles: readonly string[]): ApiError {
  return forbidden(`${roles.join(' or ')} role required`);
}

/** 404. It names what was requested and never the reason: foreign, unknown and malformed ids get the same answer. */
export function notFound(what: string): ApiError {
  return new ApiError(404, { error: `${what} not found.` });
}

export function methodNotAllowed(allowed: readonly string[]): ApiError {
  return new ApiError(
    405,
    { error: `This path accepts ${allowed.join(', ')} only.` },
    { allow: allowed.join(', ') },
  );
}

export function conflict(sentence: string): ApiError {
  return new ApiError(409, { error: sentence });
}

export function bodyTooLarge(limitBytes: number): ApiError {
  return new ApiError(413, { error: `The body is larger than the ${limitBytes} bytes that are accepted.` });
}

/** 415: the body is not in an accepted format. */
export function unsupportedMediaType(issue: Issue): ApiError {
  return new ApiError(415, { detail: [issue] });
}

export function tooManyRequests(sentence: string, retryAfterSeconds: number): ApiError {
  return new ApiError(429, { error: sentence }, { 'retry-after': String(retryAfterSeconds) });
}

/** 503: something that the request needs is unavailable. */
export function unavailable(sentence: string, retryAfterSeconds?: number): ApiError {
  return new ApiError(
    503,
    { error: sentence },
    retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) },
  );
}

/** The specification's answer while the telemetry store is unavailable. `retryAfterSeconds` where waiting helps. */
export function analyticsUnavailable(retryAfterSeconds?: number): ApiError {
  return unavailable('analytics backend unavailable', retryAfterSeconds);
}
