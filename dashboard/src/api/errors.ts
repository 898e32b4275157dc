import { GatehouseConnectionError, GatehouseError, GatehouseReplyError } from '@gatehouse/sdk';
import { areCookiesBlocked } from '../browser/interfaces.ts';

/** An error as a person reads it. */
export interface ReadableError {
  readonly sentence: string;
  /** To quote to the operator, who finds it in the log. */
  readonly requestId: string | undefined;
  readonly status: number | undefined;
  /** The message of an exception of the page itself, to send to the operator. */
  readonly detail?: string;
}

const MAX_DETAIL = 300;

/** The sign-in succeeded, and the browser did not send its cookies back. */
export class SessionNotKeptError extends Error {
  override readonly name = 'SessionNotKeptError';
}

export function readableError(error: unknown): ReadableError {
  if (error instanceof SessionNotKeptError)
    return { sentence: whyNotKept(), requestId: undefined, status: undefined };
  if (error instanceof GatehouseReplyError)
    return {
      sentence: 'Something other than the API answered. A new version may be starting: reload the page.',
      requestId: error.requestId,
      status: error.status,
    };
  if (error instanceof GatehouseError)
    return { sentence: sentenceOf(error), requestId: error.requestId, status: error.status };
  if (error instanceof GatehouseConnectionError)
    return {
      sentence: 'The service did not answer. Check the connection.',
      requestId: undefined,
      status: undefined,
    };
  return {
    sentence:
      'Something in this page went wrong. Reload it. If it happens again, send your operator this message:',
    requestId: undefined,
    status: undefined,
    detail: String(error).slice(0, MAX_DETAIL),
  };
}

function whyNotKept(): string {
  const found = 'You signed in, but the browser did not keep the session.';
  if (areCookiesBlocked() || location.protocol === 'https:')
    return `${found} Allow cookies for this address, then sign in again.`;
  const reason = `${found} Its cookies are Secure, and this page came over plain HTTP.`;
  return isSecureContext
    ? `${reason} Use HTTPS, or a browser that keeps such cookies on localhost, as Chrome and Firefox do.`
    : `${reason} Use HTTPS or a tunnel.`;
}

function sentenceOf(error: GatehouseError): string {
  if (error.status === 401 && error.message === 'Unauthorized')
    return 'The session has ended. Sign in, then try again.';
  if (error.status === 503 && error.message === 'analytics backend unavailable')
    return 'The figures are unavailable at the moment. Nothing is lost: requests are still recorded and appear later.';
  if (error.status === 500) return 'The service could not do that because of an internal error.';
  return finished(error.message);
}

/** The sentences of the API begin in lower case in a few places and end without a full stop. */
function finished(text: string): string {
  const sentence = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(sentence) ? sentence : `${sentence}.`;
}

/** The sentence for one field of a form: `body.name`. Undefined if the error is not about it. */
export function fieldError(error: unknown, field: string): string | undefined {
  if (!(error instanceof GatehouseError)) return undefined;
  const issue = error.issues.find(({ loc }) => loc.at(-1) === field);
  return issue === undefined ? undefined : finished(issue.msg);
}

/** True if the same read may succeed in a moment. */
export function mayRetry(error: unknown): boolean {
  if (error instanceof GatehouseConnectionError) return true;
  return (
    error instanceof GatehouseError && (error.status === 502 || error.status === 503 || error.status === 504)
  );
}
