import type { TerminationReason } from './journal/finished-request.ts';
import type { AnswerReading, StreamReading } from './protocols/protocol.ts';
import type { Refusal } from './refusal.ts';

/** How a request came to its end, before that end is metered, recorded and told to the caller. */
export type Ending = Refused | Answered | Streamed | Cut;

/** The gateway answers itself; nothing was sent yet. */
export interface Refused {
  readonly kind: 'refused';
  readonly refusal: Refusal;
}

/** The provider's whole answer is here; nothing was sent yet. */
export interface Answered {
  readonly kind: 'answered';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Undefined for an error of the provider's. */
  readonly reading: AnswerReading | undefined;
  readonly upstreamError: string | null;
}

/** A stream has passed but for its last bytes. */
export interface Streamed {
  readonly kind: 'streamed';
  readonly status: number;
  readonly reading: StreamReading;
  readonly upstreamError: string | null;
  readonly tail: Buffer;
}

/** It ended before its time, and no whole answer will reach the caller. */
export interface Cut {
  readonly kind: 'cut';
  /** What was sent; 499 when nothing was and the caller left. */
  readonly status: number;
  readonly termination: Exclude<TerminationReason, 'success'>;
  readonly upstreamError: string | null;
  /** Undefined when no stream had begun. */
  readonly reading: StreamReading | undefined;
  /** Whether the provider may have seen the request. */
  readonly wasStarted: boolean;
  /** The last words of a stream that ends in order; without them the connection is broken off. */
  readonly farewell: Buffer | undefined;
}

/** The status that no server sends: the caller closed the connection first. */
export const CALLER_GONE_STATUS = 499;

/** Whether anything was produced for the caller that somebody has to pay for. */
export function isChargeable(ending: Ending): boolean {
  switch (ending.kind) {
    case 'refused':
      return false;
    case 'answered':
      return ending.reading !== undefined;
    case 'streamed':
      return ending.reading.upstreamError === null || hasProduced(ending.reading);
    case 'cut':
      // Who leaves pays for what was begun. Where the gateway or the provider failed, only what came counts.
      return ending.termination === 'client_disconnect'
        ? ending.wasStarted
        : ending.reading !== undefined && hasProduced(ending.reading);
  }
}

function hasProduced(reading: StreamReading): boolean {
  return reading.hasContent || reading.usage !== undefined;
}

/** What the request log says of an ending. `isCallerGone`: whether the caller left while it was being handled. */
export function outcomeOf(
  ending: Ending,
  isCallerGone: boolean,
): { status: number; termination: TerminationReason; refusal: string; upstreamError: string | null } {
  switch (ending.kind) {
    case 'refused': {
      const { status, termination, code, upstreamError } = ending.refusal;
      if (!isCallerGone) return { status, termination, refusal: code, upstreamError };
      return { status: CALLER_GONE_STATUS, termination: 'client_disconnect', refusal: code, upstreamError };
    }
    case 'answered': {
      const { status, upstreamError } = ending;
      if (!isCallerGone) return { status, termination: 'success', refusal: '', upstreamError };
      return { status: CALLER_GONE_STATUS, termination: 'client_disconnect', refusal: '', upstreamError };
    }
    case 'streamed': {
      const { upstreamError } = ending;
      const termination = isCallerGone ? 'client_disconnect' : 'success';
      return { status: ending.status, termination, refusal: '', upstreamError };
    }
    case 'cut': {
      const { status, termination, upstreamError } = ending;
      return { status, termination, refusal: '', upstreamError };
    }
  }
}
