/** How a key stands to its limit. Times are counted from now. */
export interface RateDecision {
  readonly isAllowed: boolean;
  readonly limit: number;
  /** How many more requests would be allowed at this moment. */
  readonly remaining: number;
  /** When nothing of what was counted counts any more. */
  readonly resetMs: number;
  /** When the next request would be allowed; 0 when it would be now. */
  readonly retryAfterMs: number;
}

/** Counts requests of keys: at most `limitRpm` in any 60 seconds. */
export interface RateLimiter {
  /** Counts one request if it is allowed. A refused one is not counted. */
  take(keyId: string, limitRpm: number): Promise<RateDecision>;
  /** How the key stands, counting nothing. */
  peek(keyId: string, limitRpm: number): Promise<RateDecision>;
  /** True if it counts together with the other processes at this moment; left out where it never does. */
  isShared?(): boolean;
}

/** The headers that tell a caller how its key stands, as OpenAI names them. */
export function rateHeaders(decision: RateDecision): Record<string, string> {
  return {
    'x-ratelimit-limit-requests': String(decision.limit),
    'x-ratelimit-remaining-requests': String(decision.remaining),
    'x-ratelimit-reset-requests': `${Math.ceil(decision.resetMs / 1000)}s`,
  };
}

/** Whole seconds for Retry-After: waiting that long is enough. */
export function retryAfterSeconds(decision: RateDecision): number {
  return Math.max(1, Math.ceil(decision.retryAfterMs / 1000));
}
