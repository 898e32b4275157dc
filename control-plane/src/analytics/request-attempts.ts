import { type analytics, pkrNumber } from '@gatehouse/contract';
import { type Attempt, readAttempts } from '@gatehouse/store';

/** The attempts of a row as the API sends them. */
export function requestAttempts(column: string): analytics.RequestAttempt[] {
  return readAttempts(column).map(attemptEntry);
}

function attemptEntry(attempt: Attempt): analytics.RequestAttempt {
  return {
    provider: attempt.provider,
    upstream_model: attempt.upstreamModel,
    credential: attempt.credential,
    is_byok: attempt.isByok ? 1 : 0,
    status: attempt.status,
    started_ms: attempt.startedMs,
    total_ms: attempt.totalMs,
    ttft_ms: attempt.ttftMs,
    prompt_tokens: attempt.promptTokens,
    tokens_generated: attempt.tokensGenerated,
    cost_pkr: pkrNumber(attempt.costMicroPkr),
    ending: attempt.ending,
    error: attempt.error,
  };
}
