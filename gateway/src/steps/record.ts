import { MAX_ROUTE_ID_LENGTH } from '@gatehouse/contract';
import { type FinishedRequest, finishRequest } from '../journal/finished-request.ts';
import type { Context } from '../pipeline/context.ts';
import type { Dependencies } from '../pipeline/dependencies.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { Outcome, RecordedOutcome } from '../pipeline/outcome.ts';
import { cutToBytes, cutToStorable, headerText, maskKeys } from '../text.ts';
import { type AttemptContext, lastAttempt, toMicrosecond } from './last-attempt.ts';
import { type Metered, totalMicroPkr } from './meter.ts';

// A request that was not sent to a provider costs its sender nothing, and neither does one of a free endpoint, so little of it is
// kept.
export const MAX_USER_AGENT_OF_REFUSED_LENGTH = 64;
/** User agents of browsers and SDKs have up to some 300 bytes. */
export const MAX_USER_AGENT_LENGTH = 512;

/** The facts of the request: of a refused one the key, at least. */
type RecordContext = Pick<Context, 'key'> &
  AttemptContext &
  Partial<Pick<Context, 'model' | 'isStream' | 'isHeld' | 'route'>> & {
    readonly outcome: Outcome;
    /** True if the endpoint never costs anything. */
    readonly isFree: boolean;
  };

/**
 * Writes the one record of a request, before its last byte is sent: an answer that was delivered is on record. Of a
 * key's refused and free requests, those past a rate are counted instead. Resolves with the record; rejects when the
 * journal cannot write. See docs/decisions/0003.
 */
export async function record(
  context: RecordContext,
  exchange: Exchange,
  recorded: RecordedOutcome,
  metered: Metered,
  dependencies: Pick<Dependencies, 'clock' | 'journal' | 'refused' | 'metrics'>,
): Promise<FinishedRequest> {
  const { clock, journal, refused, metrics } = dependencies;
  const request = finishedRequest(context, exchange, recorded, metered, clock.monotonicMs());
  metrics.recorded(request, context.route?.id);
  if ((context.isFree || exchange.dispatchedAtMs === undefined) && refused.count(request)) return request;
  await journal.append(request);
  return request;
}

function finishedRequest(
  context: RecordContext,
  exchange: Exchange,
  recorded: RecordedOutcome,
  metered: Metered,
  nowMs: number,
): FinishedRequest {
  const { key, model = '', isStream = false, isByok = false, target, isHeld = false } = context;
  const { request, startedAtMs, dispatchedAtMs, firstTokenAtMs } = exchange;
  const isDispatched = dispatchedAtMs !== undefined;
  const isPaid = isDispatched && !context.isFree;
  const userAgent = maskKeys(headerText(request.headers['user-agent'] ?? ''));
  const endedAtMs = exchange.leftAtMs ?? nowMs;
  const totalMs = endedAtMs - startedAtMs;
  const ttftMs = firstTokenAtMs === undefined || !isStream ? null : firstTokenAtMs - startedAtMs;
  const { status, termination, refusal } = recorded;
  const upstreamError = recorded.upstreamError ?? metered.usageError;
  const masked = upstreamError === null ? null : maskKeys(upstreamError);
  return finishRequest({
    requestId: exchange.id,
    organizationId: key.organizationId,
    keyId: key.id,
    projectId: key.projectId,
    startedAtMicros: exchange.startedAtMicros,
    model: maskKeys(cutToStorable(model, MAX_ROUTE_ID_LENGTH)),
    status,
    isStream,
    totalMs: toMicrosecond(totalMs),
    ttftMs: ttftMs === null ? null : toMicrosecond(ttftMs),
    tpotMs:
      ttftMs === null ? null : toMicrosecond((totalMs - ttftMs) / Math.max(metered.tokensReceived - 1, 1)),
    preDispatchMs: toMicrosecond(isDispatched ? dispatchedAtMs - startedAtMs : totalMs),
    promptTokens: metered.promptTokens,
    tokensGenerated: metered.completionTokens,
    cacheCreationInputTokens: metered.cacheWriteTokens,
    cacheReadInputTokens: metered.cacheReadTokens,
    totalTokens: metered.totalTokens,
    tokensEstimated: metered.isEstimated,
    costMicroPkr: totalMicroPkr(metered, exchange),
    isByok,
    terminationReason: termination,
    refusal,
    upstreamError: masked,
    upstreamModel: target?.upstreamModel ?? null,
    userAgent: cutToBytes(userAgent, isPaid ? MAX_USER_AGENT_LENGTH : MAX_USER_AGENT_OF_REFUSED_LENGTH),
    metadata: (isPaid && exchange.metadata?.labels) || NO_METADATA,
    attempts: isPaid
      ? [
          ...exchange.earlierAttempts,
          lastAttempt(context, exchange, context.outcome, { upstreamError: masked }, metered, endedAtMs),
        ]
      : [],
    isHeld,
  });
}

const NO_METADATA: ReadonlyMap<string, string> = new Map();
