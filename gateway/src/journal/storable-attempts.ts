import { type Attempt, MAX_ATTEMPT_ERROR_BYTES, MAX_ATTEMPTS } from '@gatehouse/store';
import { cutToBytes } from '../wire/text.ts';
import { isStorable, storableText } from './storable-text.ts';

const MAX_INT64 = 2n ** 63n - 1n;
// Names of providers, models and credentials are the operator's and shorter.
const MAX_NAME_BYTES = 256;

/** The attempts as every store can hold them, within their bounds: the same list where nothing has to change. */
export function storableAttempts(attempts: readonly Attempt[]): readonly Attempt[] {
  if (attempts.length <= MAX_ATTEMPTS && attempts.every(isStorableAttempt)) return attempts;
  return attempts.slice(0, MAX_ATTEMPTS).map(repaired);
}

// Nearly every attempt is: a copy of each would cost more than to look at it.
function isStorableAttempt(attempt: Attempt): boolean {
  const { status, ttftMs, promptTokens, error } = attempt;
  return (
    fits(attempt.provider, MAX_NAME_BYTES) &&
    fits(attempt.upstreamModel, MAX_NAME_BYTES) &&
    fits(attempt.credential, MAX_NAME_BYTES) &&
    (status === null || Number.isFinite(status)) &&
    Number.isFinite(attempt.startedMs) &&
    Number.isFinite(attempt.totalMs) &&
    (ttftMs === null || Number.isFinite(ttftMs)) &&
    (promptTokens === null || Number.isFinite(promptTokens)) &&
    Number.isFinite(attempt.tokensGenerated) &&
    attempt.costMicroPkr === int64(attempt.costMicroPkr) &&
    (error === null || fits(error, MAX_ATTEMPT_ERROR_BYTES))
  );
}

function repaired(attempt: Attempt): Attempt {
  const { status, ttftMs, promptTokens, error } = attempt;
  return {
    ...attempt,
    provider: cut(attempt.provider, MAX_NAME_BYTES),
    upstreamModel: cut(attempt.upstreamModel, MAX_NAME_BYTES),
    credential: cut(attempt.credential, MAX_NAME_BYTES),
    status: status === null ? null : finite(status, null),
    startedMs: finite(attempt.startedMs, 0),
    totalMs: finite(attempt.totalMs, 0),
    ttftMs: ttftMs === null ? null : finite(ttftMs, null),
    promptTokens: promptTokens === null ? null : finite(promptTokens, null),
    tokensGenerated: finite(attempt.tokensGenerated, 0),
    costMicroPkr: int64(attempt.costMicroPkr),
    error: error === null ? null : cut(error, MAX_ATTEMPT_ERROR_BYTES),
  };
}

/** True if the text surely fits; a long one is cut, which may leave it as it is. */
function fits(text: string, maxBytes: number): boolean {
  return text.length * 3 <= maxBytes && isStorable(text);
}

function cut(text: string, maxBytes: number): string {
  return cutToBytes(storableText(text), maxBytes);
}

function finite<Otherwise>(value: number, otherwise: Otherwise): number | Otherwise {
  return Number.isFinite(value) ? value : otherwise;
}

function int64(amount: bigint): bigint {
  if (amount < 0n) return 0n;
  return amount > MAX_INT64 ? MAX_INT64 : amount;
}
