import { crc32 } from 'node:zlib';
import type { FinishedRequest } from '../finished-request.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const MAX_INT64 = 2n ** 63n - 1n;

/** A line of the journal, written by hand, field after field: the reference of a test and of bench/request-rows.ts. */
export function referenceLine(request: FinishedRequest): string {
  const { costMicroPkr, startedAtMicros, isHeld } = request;
  for (const id of [request.requestId, request.organizationId, request.keyId, request.projectId])
    if (!UUID.test(id ?? '') && (id !== null || costMicroPkr !== 0n || isHeld))
      throw new TypeError('no UUID');
  for (const value of [costMicroPkr, startedAtMicros])
    if (typeof value !== 'bigint' || value < 0n || value > MAX_INT64) throw new TypeError('no int64');
  const json = JSON.stringify({
    isHeld,
    organizationId: request.organizationId,
    requestId: request.requestId,
    startedAtMicros: String(startedAtMicros),
    model: request.model,
    status: request.status,
    isStream: request.isStream,
    keyId: request.keyId,
    projectId: request.projectId,
    totalMs: request.totalMs,
    ttftMs: request.ttftMs,
    tpotMs: request.tpotMs,
    preDispatchMs: request.preDispatchMs,
    promptTokens: request.promptTokens,
    tokensGenerated: request.tokensGenerated,
    cacheCreationInputTokens: request.cacheCreationInputTokens,
    cacheReadInputTokens: request.cacheReadInputTokens,
    totalTokens: request.totalTokens,
    tokensEstimated: request.tokensEstimated,
    costMicroPkr: String(costMicroPkr),
    isByok: request.isByok,
    terminationReason: request.terminationReason,
    refusal: request.refusal,
    upstreamError: request.upstreamError,
    upstreamModel: request.upstreamModel,
    userAgent: request.userAgent,
    metadata: [...request.metadata],
    requestCount: request.requestCount,
    attempts: request.attempts.map((one) => [
      one.provider,
      one.upstreamModel,
      one.credential,
      Number(one.isByok),
      one.status,
      one.startedMs,
      one.totalMs,
      one.ttftMs,
      one.promptTokens,
      one.tokensGenerated,
      String(one.costMicroPkr),
      one.ending,
      one.error,
    ]),
  });
  return `${crc32(json).toString(16).padStart(8, '0')} ${json}\n`;
}
