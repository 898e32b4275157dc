/**
 * The outcomes of a request that the gateway records. Up to LAST_REJECTION the gateway answers without a call to a
 * provider; from `unreachable` on a call was not completed.
 */
export const OUTCOME = {
  answered: 0,
  expired: 1,
  forbidden: 2,
  unknownModel: 3,
  invalid: 4,
  throttled: 5,
  outOfCredit: 6,
  /** The provider's own error, passed on unchanged. */
  upstreamError: 7,
  unreachable: 8,
  /** At the route's timeout: before anything was sent, or in the middle of a stream. */
  timedOut: 9,
  streamTimedOut: 10,
  streamAborted: 11,
  /** The client disconnected: in the middle of a stream, or before anything was sent. */
  leftStream: 12,
  left: 13,
} as const;

export const LAST_REJECTION = OUTCOME.outOfCredit;

// Shares of the requests that reach the step where the outcome can occur.
export const CHANCES = {
  forbidden: 0.01,
  unknownModel: 0.0012,
  invalid: 0.0018,
  outOfCredit: 0.0014,
  upstreamError: 0.011,
  unreachable: 0.0014,
  timedOut: 0.00015,
  streamTimedOut: 0.00005,
  streamAborted: 0.0016,
  leftStream: 0.014,
  left: 0.002,
  /** Answers of a second provider call, after the first failed. */
  retried: 0.02,
  /** Answers without token counts from the provider. */
  estimated: 0.008,
} as const;

// While a provider has trouble with a model, its failures are this many times as frequent.
export const TROUBLE_FACTOR = 14;
export const TROUBLE_MICROS = 2_700_000_000;
export const TROUBLE_ONE_IN = 400;

/** Branches of multiIf by cumulative chances: each covers its share of the range from 0 to 1. */
function cumulative(
  draw: string,
  steps: readonly (readonly [chance: number, outcome: number, condition?: string])[],
): string {
  let reached = 0;
  return steps
    .map(([chance, outcome, condition]) => {
      reached += chance;
      return `${draw} < ${reached}${condition === undefined ? '' : ` AND ${condition}`}, ${outcome}`;
    })
    .join(', ');
}

/** The outcome of a row from its random numbers, in the order of the gateway's steps. */
export const OUTCOME_OF_ROW = `multiIf(
  is_expired, ${OUTCOME.expired},
  ${cumulative('refused_by', [
    [CHANCES.unknownModel, OUTCOME.unknownModel],
    [CHANCES.invalid, OUTCOME.invalid],
    [CHANCES.forbidden, OUTCOME.forbidden, 'is_restricted'],
  ])},
  is_throttled, ${OUTCOME.throttled},
  ${cumulative('detail', [[CHANCES.outOfCredit, OUTCOME.outOfCredit]])},
  ${cumulative('failed_by', [
    [CHANCES.upstreamError, OUTCOME.upstreamError],
    [CHANCES.unreachable, OUTCOME.unreachable],
    [CHANCES.timedOut, OUTCOME.timedOut],
    [CHANCES.streamTimedOut, OUTCOME.streamTimedOut, 'wants_stream'],
    [CHANCES.streamAborted, OUTCOME.streamAborted, 'wants_stream'],
  ])},
  ${cumulative('left_by', [
    [CHANCES.left, OUTCOME.left],
    [CHANCES.leftStream, OUTCOME.leftStream, 'wants_stream'],
  ])},
  ${OUTCOME.answered})`;
