import { ApiError, type analytics } from '@gatehouse/contract';
import { maskKeys } from '../wire/text.ts';

type TerminationReason = analytics.TerminationReason;

/** How many of a caller's own characters are repeated to it in an error. */
const QUOTED_CHARACTERS = 256;
/** OpenAI's and Anthropic's clients retry unless this header says otherwise. */
export const NO_RETRY = { 'x-should-retry': 'false' };
const SERVICE_UNAVAILABLE = {
  status: 503,
  type: 'server_error',
  code: 'service_unavailable',
  message: 'The service cannot answer right now. Try again in a moment.',
  headers: { 'retry-after': '1' },
} as const;

export interface GatewayErrorOptions {
  readonly status: number;
  /** OpenAI's broad kind of error. */
  readonly type: string;
  /** The code by which programs tell refusals apart. */
  readonly code: string;
  readonly message: string;
  /** The member of the request that was wrong. */
  readonly param?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** The provider's error, for the request log. */
  readonly upstreamError?: string | null;
  readonly termination?: TerminationReason;
  /** The reason, for the log only. */
  readonly remark?: string;
}

/** An answer that the gateway gives itself. Thrown by a step, written by one edge; made by the functions below. */
export class GatewayError extends ApiError {
  override readonly name = 'GatewayError';
  readonly type: string;
  readonly code: string;
  readonly upstreamError: string | null;
  readonly termination: TerminationReason;
  readonly remark: string | undefined;
  readonly #sentence: string;

  /** Its body has the shape that OpenAI's clients read. */
  constructor(options: GatewayErrorOptions) {
    const { status, message, type, param = null, code, headers = {} } = options;
    super(status, { error: { message, type, param, code } }, headers);
    this.type = type;
    this.code = code;
    this.upstreamError = options.upstreamError ?? null;
    this.termination = options.termination ?? 'success';
    this.remark = options.remark;
    this.#sentence = message;
  }

  override get message(): string {
    return this.#sentence;
  }
}

/** The caller closed its connection: no answer can reach it. */
export class CallerGone extends Error {
  override readonly name = 'CallerGone';
}

export function invalidApiKey(message = 'Incorrect API key provided.'): GatewayError {
  return new GatewayError({
    status: 401,
    type: 'authentication_error',
    code: 'invalid_api_key',
    message,
    headers: { 'www-authenticate': 'Bearer', ...NO_RETRY },
  });
}

export function keyExpired(): GatewayError {
  return new GatewayError({
    status: 401,
    type: 'authentication_error',
    code: 'key_expired',
    message: 'This API key has expired.',
    headers: { 'www-authenticate': 'Bearer error="invalid_token"', ...NO_RETRY },
  });
}

export function modelNotAllowed(model: string): GatewayError {
  return new GatewayError({
    status: 403,
    type: 'permission_error',
    code: 'model_not_allowed',
    message: `This API key may not use the model ${quoted(model)}.`,
    param: 'model',
  });
}

/** `nearest` is a model that the caller may use and probably meant. */
export function modelNotFound(model: string, nearest: string | undefined): GatewayError {
  const hint = nearest === undefined ? '' : ` Did you mean ${quoted(nearest)}?`;
  return noSuchModel(
    `There is no model ${quoted(model)}.${hint} GET /v1/models lists those that this key may use.`,
  );
}

/** A model that the caller may use, but not at this endpoint. */
export function modelOfOtherEndpoints(model: string, endpoints: readonly string[]): GatewayError {
  return noSuchModel(
    `The model ${quoted(model)} does not serve this endpoint. It serves ${endpoints.join(', ')}.`,
  );
}

function noSuchModel(message: string): GatewayError {
  return new GatewayError({
    ...{ status: 404, type: 'invalid_request_error', code: 'model_not_found', param: 'model' },
    message,
  });
}

export function rateLimited(limitRpm: number, retryAfterSeconds: number, retryAfterMs: number): GatewayError {
  return new GatewayError({
    status: 429,
    type: 'rate_limit_error',
    code: 'rate_limit_exceeded',
    message: `This API key is limited to ${limitRpm} requests in any 60 seconds. Try again in ${retryAfterSeconds} s.`,
    // OpenAI's clients look at the second one first, and ignore a wait of a whole minute.
    headers: { 'retry-after': String(retryAfterSeconds), 'retry-after-ms': String(Math.ceil(retryAfterMs)) },
  });
}

export function invalidRequest(message: string, param: string | null = null): GatewayError {
  return new GatewayError({
    status: 400,
    type: 'invalid_request_error',
    code: 'invalid_request',
    message,
    param,
  });
}

/** The uncountable part in words: a part of this type, or the member itself. */
export function partInWords(type: string, member: string): string {
  return type === member ? `the member ${type}` : `parts of the type ${quoted(type)}`;
}

/** 400 for a part of a prompt whose tokens cannot be counted in advance, in this member of the body or the member itself. */
export function uncountablePart(model: string, type: string, member: string): GatewayError {
  return invalidRequest(
    `The model ${quoted(model)} cannot take ${partInWords(type, member)}: ${type === member ? 'its' : 'their'} tokens cannot be counted before the request is sent, and its route does not state how many tokens a prompt can hold. The operator of this gateway can state it (max_input_tokens in the catalogue).`,
    member,
  );
}

export function serviceUnavailable(
  termination: TerminationReason = 'success',
  upstreamError: string | null = null,
): GatewayError {
  return new GatewayError({ ...SERVICE_UNAVAILABLE, upstreamError, termination });
}

/** The same with a reason that only the log shows. */
export function serviceUnavailableBecause(remark: string): GatewayError {
  return new GatewayError({ ...SERVICE_UNAVAILABLE, remark });
}

export function internalError(): GatewayError {
  return new GatewayError({
    status: 500,
    type: 'server_error',
    code: 'internal_error',
    message: 'The gateway failed to handle this request. Its X-Request-Id helps to find out why.',
  });
}

/** 417: Node leaves it to the server to refuse what it cannot do. */
export function unknownExpectation(): GatewayError {
  return new GatewayError({
    status: 417,
    type: 'invalid_request_error',
    code: 'invalid_request',
    message: 'The only expectation that can be met is 100-continue.',
  });
}

/** 421: the request is for a host that is not this one. */
export function hostNotServed(message: string): GatewayError {
  return new GatewayError({ status: 421, type: 'invalid_request_error', code: 'host_not_served', message });
}

export function unknownPath(message: string): GatewayError {
  return new GatewayError({
    status: 404,
    type: 'invalid_request_error',
    code: 'not_found',
    message,
  });
}

export function methodNotAllowed(allowed: readonly string[]): GatewayError {
  return new GatewayError({
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
