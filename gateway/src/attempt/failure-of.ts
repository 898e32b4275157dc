import type { Outcome } from '../context/outcome.ts';
import { type Failure, isRejection, readRetryAfter } from '../routing/retry.ts';
import type { UpstreamHeaders } from '../wire/headers.ts';

interface AnswerHead {
  readonly status: number;
  readonly headers: UpstreamHeaders;
}

/** The course of an attempt. */
interface Contact {
  readonly head: AnswerHead | undefined;
  /** True if no connection could be made. */
  readonly isUnreachable: boolean;
}

/** The failure at the provider; undefined where nothing did, or where it is not known. */
export function failureOf(
  outcome: Outcome,
  { head, isUnreachable }: Contact,
  nowEpochMs: number,
): Failure | undefined {
  switch (outcome.kind) {
    case 'answered':
    case 'streamed':
      if (head && head.status >= 400) return errorStatus(head, nowEpochMs);
      return outcome.upstreamError === null ? undefined : { kind: 'error_event' };
    case 'aborted':
      if (outcome.termination === 'upstream_stream_aborted') return { kind: 'broken' };
      return undefined;
    case 'refused':
      if (outcome.error.code === 'upstream_timeout') return { kind: 'timed_out' };
      if (outcome.error.code !== 'upstream_error') return undefined;
      if (!head) return { kind: isUnreachable ? 'unreachable' : 'disconnected' };
      return head.status >= 400 ? errorStatus(head, nowEpochMs) : { kind: 'broken' };
  }
}

function errorStatus({ status, headers }: AnswerHead, nowEpochMs: number): Failure {
  return { kind: 'error_status', status, retryAfterMs: readRetryAfter(headers, nowEpochMs) };
}

/** True if it says something about the provider, and not only about the request. */
export function isOfUpstream(failure: Failure): boolean {
  return failure.kind !== 'error_status' || isStatusOfUpstream(failure.status);
}

/** True if an error status says something about the provider, and not only about the request. */
export function isStatusOfUpstream(status: number): boolean {
  return status === 408 || status === 429 || status >= 500 || isRejection(status);
}
