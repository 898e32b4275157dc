import { analyticsUnavailable } from '@gatehouse/contract';
import type { Database, TelemetryClient } from '@gatehouse/store';
import type { Logger } from 'pino';
import { askTelemetry, type Budget, type Question, TelemetryUnavailable } from '../lib/ask-telemetry.ts';

/** What the endpoints of this section work with. */
export interface AnalyticsParts {
  readonly database: Database;
  readonly telemetry: TelemetryClient;
  readonly log: Logger;
  /** How long the questions of one request may take together, in ms. */
  readonly timeoutMs: number;
  /** The end of every window, in microseconds since the epoch. */
  readonly nowMicros: () => bigint;
}

/** Asks the telemetry store. Whatever keeps it from answering is logged here, once, and is one 503 outside. */
export async function ask<Row>(
  { telemetry, log }: AnalyticsParts,
  requestId: string,
  budget: Budget,
  question: Question<Row>,
): Promise<Row[]> {
  try {
    return await askTelemetry(telemetry, question, budget);
  } catch (error) {
    if (!(error instanceof TelemetryUnavailable)) throw error;
    log.warn({ request_id: requestId, err: error }, 'the telemetry store cannot be used');
    throw analyticsUnavailable();
  }
}

/** Asks for the one row that a question without GROUP BY always has; none means that the answer was lost. */
export async function askForOne<Row>(
  parts: AnalyticsParts,
  requestId: string,
  budget: Budget,
  question: Question<Row>,
): Promise<Row> {
  const [row] = await ask(parts, requestId, budget, question);
  if (row !== undefined) return row;
  parts.log.warn({ request_id: requestId }, 'the telemetry store answered without a row');
  throw analyticsUnavailable();
}
