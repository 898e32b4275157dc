import { analyticsUnavailable } from '@gatehouse/contract';
import {
  askTelemetry,
  askTelemetryForLines,
  type Budget,
  type Question,
  startBudget,
  TelemetryUnavailable,
} from '../lib/ask-telemetry.ts';
import { LineFull } from '../lib/fair-share.ts';
import type { AnalyticsParts } from './parts.ts';

/** Whose questions they are, and until when anybody wants to know. */
export interface Asker {
  readonly organizationId: string;
  readonly requestId: string;
  readonly gone: AbortSignal;
}

/**
 * The questions of one request to the telemetry store: within one time limit, each when the organisation's turn has
 * come, and only as long as the caller is there. Whatever keeps the store from answering is one 503 outside.
 */
export interface Inquiry {
  ask<Row>(question: Question<Row>): Promise<Row[]>;
  /** Asks for the one row that a question without GROUP BY always has; none means that the answer was lost. */
  askForOne<Row>(question: Question<Row>): Promise<Row>;
  /** The rows as JSON objects, a line each. */
  askForLines(question: Question<unknown>): Promise<Buffer>;
}

/** Begins to ask; the time limit of all its questions together starts now. */
export function openInquiry(parts: AnalyticsParts, asker: Asker): Inquiry {
  const failed = new AbortController();
  const budget = startBudget(parts.timeoutMs, asker.gone, failed.signal);
  const inTurn = <T>(work: () => Promise<T>) => takeTurn(parts, asker, budget, failed, work);
  const ask = <Row>(question: Question<Row>) => inTurn(() => askTelemetry(parts.telemetry, question, budget));
  return {
    ask,
    async askForOne(question) {
      const [row] = await ask(question);
      if (row !== undefined) return row;
      parts.log.warn({ request_id: asker.requestId }, 'the telemetry store answered without a row');
      throw analyticsUnavailable();
    },
    askForLines: (question) => inTurn(() => askTelemetryForLines(parts.telemetry, question, budget)),
  };
}

async function takeTurn<T>(
  { questions, log }: AnalyticsParts,
  { organizationId, requestId, gone }: Asker,
  budget: Budget,
  failed: AbortController,
  work: () => Promise<T>,
): Promise<T> {
  try {
    using _ = await questions.enter(organizationId, budget.signal);
    return await work();
  } catch (error) {
    const isKnown = error instanceof TelemetryUnavailable || error instanceof LineFull;
    if (!isKnown && error !== budget.signal.reason) throw error;
    // Nobody is told when nobody is there, and of questions that were asked together the first failure says it all.
    if (!gone.aborted && !failed.signal.aborted)
      log.warn({ request_id: requestId, err: error }, 'the telemetry store cannot be used');
    failed.abort(error);
    throw analyticsUnavailable();
  }
}
