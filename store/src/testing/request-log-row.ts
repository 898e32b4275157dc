import type { RequestLogRow } from '../clickhouse/request-log-columns.ts';

/** A request that succeeded, without a key, with these values. */
export function requestLogRow(
  values: Pick<RequestLogRow, 'requestId' | 'organizationId' | 'startedAtMicros'> & Partial<RequestLogRow>,
): RequestLogRow {
  return {
    keyId: null,
    projectId: null,
    model: 'm/one',
    status: 200,
    isStream: false,
    totalMs: 100.5,
    ttftMs: null,
    tpotMs: null,
    preDispatchMs: 0.25,
    promptTokens: 3,
    tokensGenerated: 4,
    cacheCreationInputTokens: null,
    cacheReadInputTokens: null,
    totalTokens: 7,
    tokensEstimated: false,
    costMicroPkr: 5n,
    isByok: false,
    terminationReason: 'success',
    refusal: '',
    upstreamError: null,
    upstreamModel: null,
    userAgent: '',
    metadata: new Map(),
    attempts: [],
    ...values,
  };
}
