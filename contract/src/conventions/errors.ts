import { z } from 'zod';

/** One thing wrong with a request's shape, in the reply's `detail` list. */
export interface Fault {
  /** Where: `["body", "name"]`, `["query", "limit"]`, `["header", "content-type"]`. */
  readonly loc: readonly (string | number)[];
  /** What was wrong and what is accepted, for people. */
  readonly msg: string;
  /** The kind of fault, for programs. */
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

/** A refusal with the status, body and headers it is answered with. Made by the functions below, by meaning. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    body: Readonly<Record<string, unknown>>,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(`${status} ${JSON.stringify(body)}`);
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

/** 400: the request has not the shape that is asked for. Every fault is listed. */
export function invalid(faults: readonly Fault[]): Refusal {
  return new Refusal(400, { detail: faults });
}

/** 400: the shape is right and a rule forbids it. */
export function badRequest(sentence: string): Refusal {
  return new Refusal(400, { error: sentence });
}

/** 401: no session that holds. */
export function unauthorized(): Refusal {
  return new Refusal(401, { detail: 'Unauthorized' });
}

/** 401 of the sign-in family: who it is could not be proven. */
export function notAuthenticated(sentence: string): Refusal {
  return new Refusal(401, { error: sentence });
}

export function forbidden(sentence: string): Refusal {
  return new Refusal(403, { error: sentence });
}

/** 403 for an account whose role does not allow the call, in the specification's words. */
export function roleRequired(roles: readonly string[]): Refusal {
  return forbidden(`${roles.join(' or ')} role required`);
}

/** 404, worded by what was looked for and never by why: foreign, unknown and malformed ids answer alike. */
export function notFound(what: string): Refusal {
  return new Refusal(404, { error: `${what} not found.` });
}

export function methodNotAllowed(allowed: readonly string[]): Refusal {
  return new Refusal(
    405,
    { error: `This path accepts ${allowed.join(', ')} only.` },
    { allow: allowed.join(', ') },
  );
}

export function conflict(sentence: string): Refusal {
  return new Refusal(409, { error: sentence });
}

export function bodyTooLarge(limitBytes: number): Refusal {
  return new Refusal(413, { error: `The body is larger than the ${limitBytes} bytes that are accepted.` });
}

/** 415: the body is not in the form that is read. */
export function unsupportedMediaType(fault: Fault): Refusal {
  return new Refusal(415, { detail: [fault] });
}

export function tooManyRequests(sentence: string, retryAfterSeconds: number): Refusal {
  return new Refusal(429, { error: sentence }, { 'retry-after': String(retryAfterSeconds) });
}

/** 503: a part that this needs cannot be used right now. */
export function unavailable(sentence: string, retryAfterSeconds?: number): Refusal {
  return new Refusal(
    503,
    { error: sentence },
    retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) },
  );
}

/**
 * The specification's answer while the telemetry store cannot be reached. `retryAfterSeconds`: where it is only a matter
 * of waiting.
 */
export function analyticsUnavailable(retryAfterSeconds?: number): Refusal {
  return unavailable('analytics backend unavailable', retryAfterSeconds);
}
