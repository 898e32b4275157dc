import type { Attempt, AttemptEnding } from '@gatehouse/store';
import type { Chosen } from '../context/context.ts';
import type { Outcome, RecordedOutcome } from '../context/outcome.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { OWN_CREDENTIAL } from '../routing/candidate.ts';
import type { Metered } from './meter.ts';

/** The attempt that ended last, as it is recorded. */
export function lastAttempt(
  { target, credential, isByok }: Chosen,
  exchange: Exchange,
  outcome: Outcome,
  { upstreamError }: Pick<RecordedOutcome, 'upstreamError'>,
  metered: Metered,
  endedAtMs: number,
): Attempt {
  const { startedAtMs, attemptStartedAtMs = endedAtMs, firstTokenAtMs, upstreamStatus = null } = exchange;
  return {
    provider: target.provider.name,
    upstreamModel: target.upstreamModel,
    credential: isByok ? OWN_CREDENTIAL : (credential?.name ?? ''),
    isByok,
    status: upstreamStatus,
    startedMs: toMicrosecond(attemptStartedAtMs - startedAtMs),
    totalMs: toMicrosecond(endedAtMs - attemptStartedAtMs),
    ttftMs: firstTokenAtMs === undefined ? null : toMicrosecond(firstTokenAtMs - attemptStartedAtMs),
    promptTokens: metered.promptTokens,
    tokensGenerated: metered.completionTokens,
    costMicroPkr: metered.costMicroPkr,
    ending: endingOf(outcome, upstreamStatus, exchange.stopReason === 'caller_gone'),
    error: upstreamError,
  };
}

/** How the attempt ended, whatever the caller was told of it. */
export function endingOf(outcome: Outcome, status: number | null, isCallerGone: boolean): AttemptEnding {
  switch (outcome.kind) {
    case 'answered':
      if (outcome.status >= 400) return 'error_status';
      if (outcome.upstreamError !== null) return 'error_event';
      return isCallerGone ? 'client_disconnect' : 'served';
    case 'streamed':
      if (outcome.upstreamError !== null) return 'error_event';
      return isCallerGone ? 'client_disconnect' : 'served';
    case 'aborted':
      if (outcome.termination === 'client_disconnect') return 'client_disconnect';
      if (outcome.termination === 'upstream_stream_aborted') return 'broken';
      return outcome.upstreamError === TIMED_OUT ? 'timed_out' : 'stopped';
    case 'refused':
      if (outcome.error.code === 'upstream_timeout') return 'timed_out';
      if (outcome.error.code !== 'upstream_error') return 'stopped';
      if (status === null) return 'unreachable';
      return status >= 400 ? 'error_status' : 'broken';
  }
}

// What the relay says of a stream that its route's time limit ended.
const TIMED_OUT = 'timed out';

// What lies below is noise of the clock and of subtracting, and only makes the figures long.
export function toMicrosecond(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
