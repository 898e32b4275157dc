import type { analytics } from '@gatehouse/contract';

/** One try of a request at a provider. */
export interface Attempt {
  readonly provider: string;
  readonly upstreamModel: string;
  /** The credential's name: `own` for the organisation's own key, empty where the provider takes none. */
  readonly credential: string;
  readonly isByok: boolean;
  /** The provider's own status; null when no answer began. */
  readonly status: number | null;
  /** Since the request began. */
  readonly startedMs: number;
  /** Since the attempt began. */
  readonly totalMs: number;
  /** Since the attempt began; null when it brought no token, or no stream. */
  readonly ttftMs: number | null;
  readonly promptTokens: number | null;
  readonly tokensGenerated: number;
  readonly costMicroPkr: bigint;
  readonly ending: AttemptEnding;
  /** The error, bounded and without credentials. */
  readonly error: string | null;
}
export type AttemptEnding = analytics.AttemptEnding;

/** A route allows no more. */
export const MAX_ATTEMPTS = 16;
/** The bytes of its UTF-8. */
export const MAX_ATTEMPT_ERROR_BYTES = 1_024;

// An attempt is stored as a list of its members in this order, in the journal and in the request log: never reorder them. A
// new member comes last, and a list that was written before it is shorter.
type Stored = readonly [
  provider: string,
  upstreamModel: string,
  credential: string,
  isByok: 0 | 1,
  status: number | null,
  startedMs: number,
  totalMs: number,
  ttftMs: number | null,
  promptTokens: number | null,
  tokensGenerated: number,
  /** As text: it may exceed what a JSON number holds. */
  costMicroPkr: string,
  ending: AttemptEnding,
  error: string | null,
];

/** The attempts as JSON. Texts have to be storable and numbers finite: finishRequest of the gateway ensures it. */
export function attemptsToJson(attempts: readonly Attempt[]): string {
  return JSON.stringify(attempts.map(toStored));
}

/** The attempts from parsed JSON. */
export function attemptsFromJson(stored: readonly unknown[]): Attempt[] {
  return (stored as readonly Stored[]).map(fromStored);
}

/** The attempts from the column of the request log. */
export function readAttempts(column: string): Attempt[] {
  return column === '' ? [] : attemptsFromJson(JSON.parse(column));
}

function toStored(attempt: Attempt): Stored {
  return [
    attempt.provider,
    attempt.upstreamModel,
    attempt.credential,
    attempt.isByok ? 1 : 0,
    attempt.status,
    attempt.startedMs,
    attempt.totalMs,
    attempt.ttftMs,
    attempt.promptTokens,
    attempt.tokensGenerated,
    attempt.costMicroPkr.toString(),
    attempt.ending,
    attempt.error,
  ];
}

function fromStored(stored: Stored): Attempt {
  const [provider, upstreamModel, credential, isByok, status, startedMs, totalMs, ttftMs, ...rest] = stored;
  const [promptTokens, tokensGenerated, costMicroPkr, ending, error] = rest;
  return {
    provider,
    upstreamModel,
    credential,
    isByok: isByok === 1,
    status,
    startedMs,
    totalMs,
    ttftMs,
    promptTokens,
    tokensGenerated,
    costMicroPkr: BigInt(costMicroPkr),
    ending,
    error,
  };
}
