import { CHANCES, LAST_REJECTION, OUTCOME } from './outcomes.ts';

/** Tokens, caches and durations of the rows, by their outcome. */
export function measureRows(decided: string): string {
  const { answered, expired, unreachable, timedOut, streamTimedOut, leftStream, left, upstreamError } =
    OUTCOME;
  const sorted = `
    SELECT *,
      outcome BETWEEN ${expired} AND ${LAST_REJECTION} AS is_refused,
      outcome = ${answered} OR outcome >= ${streamTimedOut} AS is_metered,
      outcome >= ${streamTimedOut} OR (outcome = ${answered} AND length_by < ${CHANCES.estimated}) AS is_estimated,
      outcome != ${expired} AND wants_stream AS is_stream,
      with_own_key AND (outcome = ${answered} OR outcome >= ${LAST_REJECTION}) AS uses_own_key,
      multiIf(outcome IN (${OUTCOME.streamAborted}, ${leftStream}), 1 + toUInt64(floor(part * (whole_output - 1))),
        outcome IN (${answered}, ${streamTimedOut}), whole_output, 0) AS output
    FROM (${decided}) AS decided`;
  const timed = `
    SELECT *,
      is_stream AND is_metered AND outcome != ${left} AS has_first_token,
      round(before_dispatch + until_first, 3) AS first_token_ms,
      before_dispatch + least(until_first + if(output > 1, output - 1, 0) * per_token, timeout_ms) AS whole_length,
      uses_own_key AND outcome = ${answered} AND NOT is_estimated AS knows_cache
    FROM (${sorted}) AS sorted`;
  const cached = `
    SELECT *,
      round(multiIf(
        outcome = ${answered}, whole_length,
        is_refused, 0.25 + 1.5 * before_dispatch * length_by,
        outcome = ${upstreamError}, before_dispatch + 40 + 0.8 * until_first * part,
        outcome = ${unreachable}, before_dispatch + 1 + 60 * pow(part, 4),
        outcome IN (${timedOut}, ${streamTimedOut}), before_dispatch + timeout_ms + 3 * part,
        outcome = ${left}, before_dispatch + until_first * (0.3 + 2 * part),
        whole_length), 3) AS total,
      knows_cache AND has_cache_read AS knows_cache_read,
      knows_cache AND has_cache_write AS knows_cache_write,
      if(knows_cache_read AND cached_by < 0.6, toUInt64(floor(whole_prompt * (0.25 + cached_by))), 0) AS cache_read
    FROM (${timed}) AS timed`;
  const written = `
    SELECT *,
      if(knows_cache_write AND written_by < 0.25,
        toUInt64(floor((whole_prompt - cache_read) * (0.3 + 2 * written_by))), 0) AS cache_write
    FROM (${cached}) AS cached`;
  const plain = `SELECT *, toUInt64(whole_prompt - cache_read - cache_write) AS plain_prompt FROM (${written}) AS written`;
  // 180,000 tokens at the highest price that a catalogue allows exceed 64 bits.
  const times = (tokens: string, price: string) => `toInt128(${tokens}) * ${price}`;
  return `
    SELECT *,
      ${times('plain_prompt', 'price_in')} + ${times('output', 'price_out')}
        + ${times('cache_write', 'price_write')} + ${times('cache_read', 'price_read')} AS product
    FROM (${plain}) AS plain`;
}
