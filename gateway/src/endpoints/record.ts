import type { IncomingHttpHeaders } from 'node:http';
import { MAX_ROUTE_ID_LENGTH } from '@gatehouse/contract';
import { lastAttempt, toMicrosecond } from '../attempt/last-attempt.ts';
import { type Metered, totalMicroPkr } from '../attempt/meter.ts';
import type { Context } from '../context/context.ts';
import type { Dependencies } from '../context/dependencies.ts';
import type { Outcome, RecordedOutcome } from '../context/outcome.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { type FinishedRequest, finishRequest } from '../journal/finished-request.ts';
import type { GatewayMetrics } from '../observed/gateway-metrics.ts';
import type { RefusedRequests } from '../observed/refused-requests.ts';
import { cutToBytes, cutToStorable, headerText, maskKeys } from '../wire/text.ts';

// A request that was not sent to a provider costs its sender nothing, and neither does one of a free endpoint, so less of it is
// kept, and least where its row stands for many.
export const MAX_USER_AGENT_OF_COUNTED_LENGTH = 64;
export const MAX_METADATA_BYTES_OF_REFUSED = 1024;
/** User agents of browsers and SDKs have up to some 300 bytes. */
export const MAX_USER_AGENT_LENGTH = 512;

export interface RecordDependencies extends Pick<Dependencies, 'clock' | 'journal' | 'metadata'> {
  /** Counts refused requests where they are too many to be written one by one. */
  readonly refused: RefusedRequests;
  readonly metrics: GatewayMetrics;
}

/** The facts of the request: of a refused one the key, at least. */
type RecordContext = Pick<Context, 'key'> &
  Partial<Pick<Context, 'model' | 'isStream' | 'isHeld' | 'windowIds' | 'route' | 'chosen'>> & {
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
  { clock, journal, metadata, refused, metrics }: RecordDependencies,
): Promise<FinishedRequest> {
  const request = finishedRequest(context, exchange, recorded, metered, clock.monotonicMs());
  metrics.recorded(request, context.route?.id);
  const isUnpaid = context.isFree || exchange.dispatchedAtMs === undefined;
  if (isUnpaid && refused.count(request)) return request;
  const row = isUnpaid ? withHeaders(request, exchange, metadata) : request;
  await journal.append(row);
  return row;
}

/** A row of one refused or free request, with what its headers say. */
function withHeaders(
  request: FinishedRequest,
  { request: { headers, rawHeaders } }: Exchange,
  metadata: RecordDependencies['metadata'],
): FinishedRequest {
  const labels = metadata.read(rawHeaders);
  return finishRequest({
    ...request,
    userAgent: userAgentOf(headers, MAX_USER_AGENT_LENGTH),
    metadata: metadata.store(request.organizationId, labels, MAX_METADATA_BYTES_OF_REFUSED).labels,
  });
}

function userAgentOf(headers: IncomingHttpHeaders, maxBytes: number): string {
  return cutToBytes(maskKeys(headerText(headers['user-agent'] ?? '')), maxBytes);
}

function finishedRequest(
  context: RecordContext,
  exchange: Exchange,
  recorded: RecordedOutcome,
  metered: Metered,
  nowMs: number,
): FinishedRequest {
  const { key, model = '', isStream = false, chosen, isHeld = false } = context;
  const { request, startedAtMs, dispatchedAtMs, firstTokenAtMs } = exchange;
  const isDispatched = dispatchedAtMs !== undefined;
  const isPaid = isDispatched && !context.isFree;
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
    isByok: chosen?.isByok ?? false,
    terminationReason: termination,
    refusal,
    upstreamError: masked,
    upstreamModel: chosen?.target.upstreamModel ?? null,
    userAgent: userAgentOf(
      request.headers,
      isPaid ? MAX_USER_AGENT_LENGTH : MAX_USER_AGENT_OF_COUNTED_LENGTH,
    ),
    metadata: (isPaid && exchange.metadata?.labels) || NO_METADATA,
    attempts:
      isPaid && chosen
        ? [
            ...exchange.earlierAttempts,
            lastAttempt(chosen, exchange, context.outcome, { upstreamError: masked }, metered, endedAtMs),
          ]
        : [],
    isHeld,
    ...(context.windowIds && { windowIds: context.windowIds }),
  });
}

const NO_METADATA: ReadonlyMap<string, string> = new Map();
