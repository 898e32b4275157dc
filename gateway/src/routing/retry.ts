import type { UpstreamHeaders } from '../wire/headers.ts';

// Whether a failed attempt may be followed by another, as long as nothing of an answer has reached the caller.

/** The failure of one attempt. */
export type Failure =
  | {
      readonly kind: 'error_status';
      readonly status: number;
      /** How long the provider asks to be left alone. */
      readonly retryAfterMs: number | undefined;
    }
  /** No connection was made: nothing of the request was sent. */
  | { readonly kind: 'unreachable' }
  /** No head came over the connection. */
  | { readonly kind: 'disconnected' }
  /** No content came in time. */
  | { readonly kind: 'timed_out' }
  /** The answer broke, or is none. */
  | { readonly kind: 'broken' }
  /** The answer began with an error instead of content. */
  | { readonly kind: 'error_event' };

/** With what the provider was called. */
export interface UsedCredential {
  /** True if it is the organisation's own. */
  readonly isByok: boolean;
  /** True if the organisation's requests may fall back from it to platform capacity. */
  readonly mayFallBack: boolean;
}

// Timeouts, conflicts and limits of the provider's; a model that is not loaded yet (425) and Groq's full tier (498); and its own failures,
// 529 (overloaded) among them.
const PASSING: ReadonlySet<number> = new Set([408, 409, 425, 429, 498]);
// The account's state, not the request's: another account may serve the same request.
const REJECTED: ReadonlySet<number> = new Set([401, 402, 403]);

/**
 * True if another target or credential may succeed where this one failed. Any other status is about the request, which would fail
 * everywhere. The organisation is told when its own credential is rejected, unless its requests may fall back.
 */
export function isWorthAnother(failure: Failure, { isByok, mayFallBack }: UsedCredential): boolean {
  if (failure.kind !== 'error_status') return true;
  const { status } = failure;
  if (isRejection(status)) return !isByok || mayFallBack;
  return PASSING.has(status) || status >= 500;
}

/** True if the status says that the credential does not serve, whatever is asked with it. */
export function isRejection(status: number): boolean {
  return REJECTED.has(status);
}

/** No provider keeps an upstream unused for longer, whatever it says. */
export const MAX_RETRY_AFTER_MS = 300_000;

const MAX_VALUE_LENGTH = 64;
const DECIMAL = /^\d{1,15}(?:\.\d{1,9})?$/;
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * How long the provider asks to be left alone, at most five minutes: `retry-after-ms`, or `retry-after` in seconds or as an
 * HTTP date. Undefined where it says nothing that can be read.
 */
export function readRetryAfter(headers: UpstreamHeaders, nowEpochMs: number): number | undefined {
  const inMs = readDecimal(headers['retry-after-ms']);
  if (inMs !== undefined) return bounded(inMs);
  const inSeconds = readDecimal(headers['retry-after']);
  if (inSeconds !== undefined) return bounded(inSeconds * 1_000);
  const date = textOf(headers['retry-after']);
  if (date === undefined || !HTTP_DATE.test(date)) return undefined;
  const atMs = Date.parse(date);
  return Number.isNaN(atMs) ? undefined : bounded(atMs - nowEpochMs);
}

function readDecimal(value: UpstreamHeaders[string]): number | undefined {
  const text = textOf(value);
  return text !== undefined && DECIMAL.test(text) ? Number(text) : undefined;
}

function textOf(value: UpstreamHeaders[string]): string | undefined {
  return typeof value === 'string' && value.length <= MAX_VALUE_LENGTH ? value.trim() : undefined;
}

function bounded(ms: number): number {
  return Math.min(Math.max(Math.ceil(ms), 0), MAX_RETRY_AFTER_MS);
}
