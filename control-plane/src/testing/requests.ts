import { randomUUID } from 'node:crypto';
import { insertRequestLog, type RequestLogRow } from '@gatehouse/store';
import type { TestTelemetry } from '@gatehouse/store/testing';

/** A row of the request log; by default a successful request of one second. */
export function requestRow(
  given: Partial<RequestLogRow> & Pick<RequestLogRow, 'organizationId' | 'startedAtMicros'>,
): RequestLogRow {
  return {
    requestId: randomUUID(),
    keyId: null,
    projectId: null,
    model: 'a/one',
    status: 200,
    isStream: false,
    totalMs: 1000,
    ttftMs: null,
    tpotMs: null,
    preDispatchMs: 0,
    promptTokens: 10,
    tokensGenerated: 20,
    cacheCreationInputTokens: null,
    cacheReadInputTokens: null,
    totalTokens: 30,
    tokensEstimated: false,
    costMicroPkr: 0n,
    isByok: false,
    terminationReason: 'success',
    refusal: '',
    upstreamError: null,
    upstreamModel: 'one',
    userAgent: 'test',
    metadata: new Map(),
    attempts: [],
    ...given,
  };
}

/** Inserts the rows as the gateway does. */
export function addRequests(telemetry: TestTelemetry, rows: readonly RequestLogRow[]): Promise<void> {
  return insertRequestLog(telemetry.client, rows, { token: randomUUID(), database: telemetry.database });
}
