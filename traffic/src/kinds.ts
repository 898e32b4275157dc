/**
 * How a request can come out, and how the gateway records each. Up to `lastRefusal` the gateway answers before it has
 * asked anybody; from `unreachable` on something broke.
 */
export const KIND = {
  answered: 0,
  expired: 1,
  forbidden: 2,
  unknownModel: 3,
  invalid: 4,
  throttled: 5,
  outOfCredit: 6,
  /** The provider's own error, passed on whole. */
  upstreamError: 7,
  unreachable: 8,
  /** At the route's time limit, before anything was sent and in the middle of a stream. */
  timedOut: 9,
  streamTimedOut: 10,
  streamAborted: 11,
  /** The caller left in the middle of a stream, and before anything was sent. */
  leftStream: 12,
  left: 13,
} as const;

export const LAST_REFUSAL = KIND.outOfCredit;

// Shares of the requests that come to the point where it can happen.
export const CHANCE = {
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
  /** Answers of a provider that does not say what it has counted. */
  estimated: 0.008,
} as const;

// While a provider has trouble with a model, what goes wrong at it goes wrong so many times as often.
export const TROUBLE_FACTOR = 14;
export const TROUBLE_MICROS = 2_700_000_000;
export const TROUBLE_ONE_IN = 400;

/** Rows of chances laid end to end: each takes up its share of the way from 0 to 1. */
function ladder(
  draw: string,
  steps: readonly (readonly [chance: number, kind: number, condition?: string])[],
): string {
  let reached = 0;
  return steps
    .map(([chance, kind, condition]) => {
      reached += chance;
      return `${draw} < ${reached}${condition === undefined ? '' : ` AND ${condition}`}, ${kind}`;
    })
    .join(', ');
}

/** The kind of a row, by what was drawn for it. What comes first in the gateway comes first here. */
export const KIND_OF_ROW = `multiIf(
  is_expired, ${KIND.expired},
  ${ladder('refused_by', [
    [CHANCE.unknownModel, KIND.unknownModel],
    [CHANCE.invalid, KIND.invalid],
    [CHANCE.forbidden, KIND.forbidden, 'is_restricted'],
  ])},
  is_throttled, ${KIND.throttled},
  ${ladder('detail', [[CHANCE.outOfCredit, KIND.outOfCredit]])},
  ${ladder('failed_by', [
    [CHANCE.upstreamError, KIND.upstreamError],
    [CHANCE.unreachable, KIND.unreachable],
    [CHANCE.timedOut, KIND.timedOut],
    [CHANCE.streamTimedOut, KIND.streamTimedOut, 'wants_stream'],
    [CHANCE.streamAborted, KIND.streamAborted, 'wants_stream'],
  ])},
  ${ladder('left_by', [
    [CHANCE.left, KIND.left],
    [CHANCE.leftStream, KIND.leftStream, 'wants_stream'],
  ])},
  ${KIND.answered})`;
