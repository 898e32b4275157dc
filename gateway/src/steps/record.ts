import { type Ending, outcomeOf } from '../ending.ts';
import type { Exchange } from '../exchange.ts';
import type { FinishedRequest } from '../journal/finished-request.ts';
import type { Journal } from '../journal/journal.ts';
import { readMetadata } from '../metadata.ts';
import type { GatewayKey } from '../queries.ts';
import { cutToStorable, headerText, maskKeys } from '../text.ts';
import type { Metered } from './meter.ts';

const LONGEST_MODEL = 256;

/**
 * Writes the one record of a request, before its last byte is sent: an answer that was delivered is on record.
 * `nowMs` is the monotonic clock. Rejects when the journal cannot write.
 */
export async function record(
  exchange: Exchange,
  key: GatewayKey,
  ending: Ending,
  metered: Metered,
  { journal, nowMs }: { readonly journal: Journal; readonly nowMs: number },
): Promise<void> {
  await journal.append(finishedRequest(exchange, key, ending, metered, nowMs));
}

function finishedRequest(
  exchange: Exchange,
  key: GatewayKey,
  ending: Ending,
  metered: Metered,
  nowMs: number,
): FinishedRequest {
  const { request, startedAtMs, dispatchedAtMs, firstTokenAtMs } = exchange;
  const totalMs = nowMs - startedAtMs;
  const ttftMs = firstTokenAtMs === undefined ? null : firstTokenAtMs - startedAtMs;
  const { status, termination, refusal, upstreamError } = outcomeOf(
    ending,
    exchange.stopReason === 'caller_gone',
  );
  exchange.outcome = { status, termination };
  return {
    requestId: exchange.id,
    organizationId: key.organizationId,
    keyId: key.id,
    projectId: key.projectId,
    startedAtMicros: exchange.startedAtMicros,
    model: maskKeys(cutToStorable(exchange.model, LONGEST_MODEL)),
    status,
    isStream: exchange.isStream,
    totalMs: toMicrosecond(totalMs),
    ttftMs: ttftMs === null ? null : toMicrosecond(ttftMs),
    tpotMs:
      ttftMs === null ? null : toMicrosecond((totalMs - ttftMs) / Math.max(metered.tokensGenerated - 1, 1)),
    preDispatchMs: toMicrosecond(dispatchedAtMs === undefined ? totalMs : dispatchedAtMs - startedAtMs),
    promptTokens: metered.promptTokens,
    tokensGenerated: metered.tokensGenerated,
    cacheCreationInputTokens: metered.cacheWriteTokens,
    cacheReadInputTokens: metered.cacheReadTokens,
    totalTokens: metered.totalTokens,
    tokensEstimated: metered.tokensEstimated,
    costMicroPkr: metered.costMicroPkr,
    isByok: exchange.isByok,
    terminationReason: termination,
    refusal,
    upstreamError: upstreamError === null ? null : maskKeys(upstreamError),
    upstreamModel: exchange.route?.upstreamModel ?? null,
    userAgent: maskKeys(headerText(request.headers['user-agent'] ?? '')),
    metadata: readMetadata(request.rawHeaders),
    isHeld: exchange.isHeld,
  };
}

// What lies below is noise of the clock and of subtracting, and only makes the figures long.
function toMicrosecond(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
