import { pkrInWords } from '@gatehouse/contract';
import type { TerminationReason } from './journal/finished-request.ts';
import { maskKeys } from './text.ts';

/** How many of a caller's own characters are repeated to it in an error. */
const QUOTED_CHARACTERS = 256;

export interface RefusalParts {
  readonly status: number;
  /** OpenAI's broad kind of error. */
  readonly type: string;
  /** What programs tell refusals apart by. */
  readonly code: string;
  readonly message: string;
  /** The member of the request that was wrong. */
  readonly param?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** What went wrong at the provider, for the request log. */
  readonly upstreamError?: string | null;
  readonly termination?: TerminationReason;
}

/** An answer that the gateway gives itself. Thrown by a step, written by one edge; made by the functions below. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly type: string;
  readonly code: string;
  readonly param: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly upstreamError: string | null;
  readonly termination: TerminationReason;

  constructor(parts: RefusalParts) {
    super(parts.message);
    this.status = parts.status;
    this.type = parts.type;
    this.code = parts.code;
    this.param = parts.param ?? null;
    this.headers = parts.headers ?? {};
    this.upstreamError = parts.upstreamError ?? null;
    this.termination = parts.termination ?? 'success';
  }

  /** The body in the shape that OpenAI's clients read. */
  toBody(): string {
    const { message, type, param, code } = this;
    return JSON.stringify({ error: { message, type, param, code } });
  }
}

/** The caller closed its connection: there is nobody left to answer. */
export class CallerGone extends Error {
  override readonly name = 'CallerGone';
}

export function invalidApiKey(message = 'Incorrect API key provided.'): Refusal {
  return new Refusal({
    status: 401,
    type: 'authentication_error',
    code: 'invalid_api_key',
    message,
    headers: { 'www-authenticate': 'Bearer' },
  });
}

export function keyExpired(): Refusal {
  return new Refusal({
    status: 401,
    type: 'authentication_error',
    code: 'key_expired',
    message: 'This API key has expired.',
    headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
  });
}

export function modelNotAllowed(model: string): Refusal {
  return new Refusal({
    status: 403,
    type: 'permission_error',
    code: 'model_not_allowed',
    message: `This API key may not use the model ${quoted(model)}.`,
    param: 'model',
  });
}

export function modelNotFound(model: string): Refusal {
  return new Refusal({
    status: 404,
    type: 'invalid_request_error',
    code: 'model_not_found',
    message: `There is no model ${quoted(model)} on this endpoint.`,
    param: 'model',
  });
}

export function keyCreditExhausted(neededMicroPkr: bigint, availableMicroPkr: bigint): Refusal {
  const left = availableMicroPkr > 0n ? availableMicroPkr : 0n;
  const isUsedUp = neededMicroPkr <= left;
  return new Refusal({
    status: 402,
    type: 'insufficient_quota',
    code: 'key_credit_exhausted',
    message: isUsedUp
      ? "This API key's credit is used up."
      : `This request can cost up to ${pkrInWords(neededMicroPkr)} and ${pkrInWords(left)} of this API key's credit is free. A smaller max_completion_tokens lowers what a request can cost.`,
  });
}

export function budgetExhausted(): Refusal {
  return new Refusal({
    status: 402,
    type: 'insufficient_quota',
    code: 'budget_exhausted',
    message:
      "The organization's remaining budget does not cover what this request can cost. Add credit, or send a smaller max_completion_tokens.",
  });
}

export function rateLimited(limitRpm: number, retryAfterSeconds: number, retryAfterMs: number): Refusal {
  return new Refusal({
    status: 429,
    type: 'rate_limit_error',
    code: 'rate_limit_exceeded',
    message: `This API key is limited to ${limitRpm} requests in any 60 seconds. Try again in ${retryAfterSeconds} s.`,
    // OpenAI's clients look at the second one first, and pay no heed to a wait of a whole minute.
    headers: { 'retry-after': String(retryAfterSeconds), 'retry-after-ms': String(Math.ceil(retryAfterMs)) },
  });
}

export function invalidRequest(message: string, param: string | null = null): Refusal {
  return new Refusal({ status: 400, type: 'invalid_request_error', code: 'invalid_request', message, param });
}

export function upstreamFailed(message: string, upstreamError: string): Refusal {
  return new Refusal({
    status: 502,
    type: 'upstream_error',
    code: 'upstream_error',
    message,
    upstreamError,
    termination: 'upstream_stream_aborted',
  });
}

/** 502 for a provider that was never asked, because this gateway is not set up for it. */
export function upstreamNotConfigured(message: string): Refusal {
  return new Refusal({
    status: 502,
    type: 'upstream_error',
    code: 'upstream_error',
    message,
    upstreamError: message,
  });
}

export function upstreamTimedOut(timeoutMs: number): Refusal {
  return new Refusal({
    status: 504,
    type: 'upstream_error',
    code: 'upstream_timeout',
    message: `The provider did not answer within the ${timeoutMs} ms that this model is given.`,
    upstreamError: 'timed out',
    termination: 'proxy_guillotine',
  });
}

export function serviceUnavailable(
  termination: TerminationReason = 'success',
  upstreamError: string | null = null,
): Refusal {
  return new Refusal({
    status: 503,
    type: 'server_error',
    code: 'service_unavailable',
    message: 'The service cannot answer right now. Try again in a moment.',
    headers: { 'retry-after': '1' },
    upstreamError,
    termination,
  });
}

export function internalError(): Refusal {
  return new Refusal({
    status: 500,
    type: 'server_error',
    code: 'internal_error',
    message: 'The gateway failed to handle this request. Its X-Request-Id helps to find out why.',
  });
}

/** 417: Node leaves it to the server to refuse what it cannot do. */
export function unknownExpectation(): Refusal {
  return new Refusal({
    status: 417,
    type: 'invalid_request_error',
    code: 'invalid_request',
    message: 'The only expectation that can be met is 100-continue.',
  });
}

/** 421: the request is for a host that is not this one. */
export function hostNotServed(message: string): Refusal {
  return new Refusal({ status: 421, type: 'invalid_request_error', code: 'host_not_served', message });
}

export function unknownPath(message: string): Refusal {
  return new Refusal({
    status: 404,
    type: 'invalid_request_error',
    code: 'not_found',
    message,
  });
}

export function methodNotAllowed(allowed: readonly string[]): Refusal {
  return new Refusal({
    status: 405,
    type: 'invalid_request_error',
    code: 'method_not_allowed',
    message: `This path accepts ${allowed.join(', ')} only.`,
    headers: { allow: allowed.join(', ') },
  });
}

function quoted(text: string): string {
  const start = maskKeys(text.slice(0, QUOTED_CHARACTERS).toWellFormed());
  return text.length > QUOTED_CHARACTERS ? `${start}…` : start;
}
