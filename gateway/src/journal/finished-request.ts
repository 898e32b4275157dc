/** How a request that reached the gateway came to its end. */
export type TerminationReason =
  | 'success'
  | 'proxy_guillotine'
  | 'client_disconnect'
  | 'upstream_stream_aborted';

/**
 * Everything that is kept of one finished request: what it cost, for the ledger, and how it went, for telemetry.
 * Of refused requests one may stand for many. Text must be well-formed Unicode without U+0000, which no store takes; the journal replaces what is not.
 */
export interface FinishedRequest {
  /** A uuid, new for every request: the key that makes settling and reaping count once. */
  readonly requestId: string;
  readonly organizationId: string;
  /** Null where refused requests of several keys are counted together. */
  readonly keyId: string | null;
  readonly projectId: string | null;
  /** Microseconds since the epoch, UTC. */
  readonly startedAtMicros: bigint;
  readonly model: string;
  readonly status: number;
  readonly isStream: boolean;
  readonly totalMs: number;
  readonly ttftMs: number | null;
  readonly tpotMs: number | null;
  readonly preDispatchMs: number;
  readonly promptTokens: number | null;
  readonly tokensGenerated: number;
  readonly cacheCreationInputTokens: number | null;
  readonly cacheReadInputTokens: number | null;
  readonly totalTokens: number;
  readonly tokensEstimated: boolean;
  readonly costMicroPkr: bigint;
  readonly isByok: boolean;
  readonly terminationReason: TerminationReason;
  /** Our own refusal code, such as `rate_limit_exceeded`; empty when the request was not refused. */
  readonly refusal: string;
  readonly upstreamError: string | null;
  readonly upstreamModel: string | null;
  readonly userAgent: string;
  /** A map and not an object, so that a caller's `__proto__` is a name like any other. */
  readonly metadata: ReadonlyMap<string, string>;
  /** Whether `holds` has, or may have, a row under this request's id: when in doubt, true. */
  readonly isHeld: boolean;
  /** How many requests this stands for, all refused by the gateway: one unless given. */
  readonly requestCount?: number;
}
