import type { Work } from '../credit/billing.ts';
import type { GatewayError } from '../errors/gateway-error.ts';
import type { AnswerReading, StreamReading } from '../formats/protocol.ts';
import type { TerminationReason } from '../journal/finished-request.ts';

/** How a request ended, before it is metered, recorded and delivered. */
export type Outcome = Refused | Answered | Streamed | Aborted;

/** The gateway answers itself; nothing was sent yet. */
export interface Refused {
  readonly kind: 'refused';
  readonly error: GatewayError;
  /** The provider's work, where it generated something all the same. */
  readonly reading?: AnswerReading | undefined;
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
  /** A document of the gateway's own: nothing has counted its bytes. */
  readonly isOwn?: true;
}

/** A stream has passed but for its last bytes. */
export interface Streamed {
  readonly kind: 'streamed';
  readonly status: number;
  readonly reading: StreamReading;
  readonly upstreamError: string | null;
  readonly tail: Buffer;
}

/** The request ended before its time, and no whole answer will reach the caller. */
export interface Aborted {
  readonly kind: 'aborted';
  /** The status that was sent; 499 when nothing was and the caller left. */
  readonly status: number;
  readonly termination: Exclude<TerminationReason, 'success'>;
  readonly upstreamError: string | null;
  /** The reading of the answer; undefined when nothing of it had come. */
  readonly reading: AnswerReading | undefined;
  /** True if the answer is a stream, and whether it was seen to its end. */
  readonly isStream: boolean;
  readonly isComplete: boolean;
  /** True if the provider may have seen the request, and did not answer it with an error. */
  readonly hasWork: boolean;
  /** True if the rest was read for its usage once the caller had left. */
  readonly isReadOn: boolean;
  /** The tokens that had come when the caller left, where it did. */
  readonly receivedTokens?: Promise<number> | undefined;
  /** The last event of a stream, which says why it ends. Without one the connection is aborted. */
  readonly finalEvent: Buffer | undefined;
}

/** The status that no server sends: the caller closed the connection first. */
export const CALLER_GONE_STATUS = 499;

/** The provider's work, as far as it is billed. */
export function workOf(outcome: Outcome): Work {
  const { reading } = outcome;
  const { hasContent = false, hasReasoning = false, isUsageFinal = false } = reading ?? {};
  const provisional = reading?.usage ? 'provisional' : 'nothing';
  const reported = reading?.usage && isUsageFinal ? 'final' : provisional;
  const isBroken = reading !== undefined && reading.upstreamError !== null;
  const isReadOn = outcome.kind === 'aborted' && outcome.isReadOn;
  const work = { hasContent, hasReasoning, isReadOn, reported } as const;
  switch (outcome.kind) {
    case 'refused':
    case 'answered':
      if (!reading) return { ...work, end: 'no_work', isStream: false };
      return {
        ...work,
        end: (outcome.kind === 'answered' && !isBroken) || reading.usage ? 'complete' : 'broken',
        isStream: false,
      };
    case 'streamed':
      return { ...work, end: isBroken ? 'broken' : 'complete', isStream: true };
    case 'aborted': {
      const { hasWork, isStream, isComplete, termination } = outcome;
      const end = termination === 'client_disconnect' && !isBroken ? 'left' : 'broken';
      const seen = reported === 'final' && !isComplete ? 'provisional' : reported;
      return { ...work, end: hasWork ? end : 'no_work', isStream, reported: seen };
    }
  }
}

export interface RecordedOutcome {
  readonly status: number;
  readonly termination: TerminationReason;
  readonly refusal: string;
  readonly upstreamError: string | null;
}

/** The outcome in the request log. `isCallerGone`: whether the caller left while it was being handled. */
export function recordedOutcome(outcome: Outcome, isCallerGone: boolean): RecordedOutcome {
  switch (outcome.kind) {
    case 'refused': {
      const { status, termination, code, upstreamError } = outcome.error;
      if (!isCallerGone) return { status, termination, refusal: code, upstreamError };
      return { status: CALLER_GONE_STATUS, termination: 'client_disconnect', refusal: code, upstreamError };
    }
    case 'answered': {
      const { status, upstreamError } = outcome;
      if (!isCallerGone) return { status, termination: 'success', refusal: '', upstreamError };
      return { status: CALLER_GONE_STATUS, termination: 'client_disconnect', refusal: '', upstreamError };
    }
    case 'streamed': {
      const { upstreamError } = outcome;
      const termination = isCallerGone ? 'client_disconnect' : 'success';
      return { status: outcome.status, termination, refusal: '', upstreamError };
    }
    case 'aborted': {
      const { status, termination, upstreamError } = outcome;
      return { status, termination, refusal: '', upstreamError };
    }
  }
}
