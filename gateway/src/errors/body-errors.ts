import { GatewayError } from './gateway-error.ts';

// The errors that a request body can cause.

/** Why a body cannot be used. */
export interface BodyIssue {
  readonly status: 400 | 413;
  readonly message: string;
  readonly param: string | null;
}

/** 400 or 413 for the content of the body. */
export function unusableBody({ status, message, param }: BodyIssue): GatewayError {
  return new GatewayError({ status, type: 'invalid_request_error', code: 'invalid_request', message, param });
}

export function bodyTooLarge(limitBytes: number): GatewayError {
  return new GatewayError({
    status: 413,
    type: 'invalid_request_error',
    code: 'invalid_request',
    message: `The request body is larger than the ${limitBytes} bytes that are accepted.`,
  });
}

/** `pace` is the least that is accepted, in words. */
export function bodyTooSlow(pace: string): GatewayError {
  return new GatewayError({
    status: 408,
    type: 'invalid_request_error',
    code: 'invalid_request',
    message: `The request body arrived too slowly: at least ${pace} must come of it.`,
    headers: { connection: 'close' },
  });
}

/** 413 for a body that exhausted the memory of the thread that read it. */
export function bodyTooCostly(): GatewayError {
  return new GatewayError({
    status: 413,
    type: 'invalid_request_error',
    code: 'invalid_request',
    message: 'The request body takes more memory to read than a request is given.',
  });
}

/** 503 for a body that exceeds the free memory, in total or of its organisation's share. */
export function noRoomForBody(): GatewayError {
  return bodiesBusy('There is no memory free for this request body while so many others are in flight.');
}

/** 503 for a large body whose queue is full or whose wait is too long. */
export function tooManyBodies(): GatewayError {
  return bodiesBusy('Too many large request bodies are waiting to be read.');
}

/** 503 for a large body that could not be read within its timeout. */
export function bodyNotReadInTime(): GatewayError {
  return bodiesBusy('The request body could not be read in the time that a request is given.');
}

function bodiesBusy(reason: string): GatewayError {
  return new GatewayError({
    status: 503,
    type: 'server_error',
    code: 'service_unavailable',
    message: `${reason} Try again in a moment.`,
    headers: { 'retry-after': '1' },
  });
}

export function encodedBody(): GatewayError {
  return new GatewayError({
    status: 415,
    type: 'invalid_request_error',
    code: 'invalid_request',
    message: 'A compressed request body is not accepted: send it without Content-Encoding.',
  });
}
