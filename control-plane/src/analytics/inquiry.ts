import { type FairScheduler, QueueFull } from '@gatehouse/concurrency';
import { analyticsUnavailable } from '@gatehouse/contract';
import type { Logger } from 'pino';
import {
  askTelemetry,
  askTelemetryForLines,
  type Lines,
  type Question,
  startBudget,
  TelemetryUnavailable,
} from '../lib/ask-telemetry.ts';
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
  /** The rows as JSON objects, a line each; no more of them than come to so many bytes, but one at least. */
  askForLines(question: Question<unknown>, mostBytes?: number): Promise<Lines>;
}

/** Begins to ask; the time limit of all its questions together starts now. */
export function openInquiry(parts: AnalyticsParts, asker: Asker): Inquiry {
  const { telemetry, questions, log } = parts;
  const failed = new AbortController();
  const budget = startBudget(parts.timeoutMs, asker.gone, failed.signal);

  // Nobody is told when nobody is there, and of questions that were asked together the first failure says it all.
  const fail = (message: string, err?: Error): never => {
    if (!asker.gone.aborted && !failed.signal.aborted)
      log.warn({ request_id: asker.requestId, err }, message);
    failed.abort(err);
    throw analyticsUnavailable();
  };
  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    using _ = await enterInTurn(questions, asker, budget.signal, log);
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof TelemetryUnavailable)) throw error;
      return fail('the telemetry store cannot be used', error);
    }
  };
  const ask = <Row>(question: Question<Row>) => inTurn(() => askTelemetry(telemetry, question, budget));
  return {
    ask,
    async askForOne(question) {
      const [row] = await ask(question);
      return row ?? fail('the telemetry store answered without a row');
    },
    askForLines: (question, mostBytes) =>
      inTurn(() => askTelemetryForLines(telemetry, question, budget, mostBytes)),
  };
}

const COME_BACK_SECONDS = 2;

/** A turn of the asker's organisation. Throws the 503 where its queue is full, or the signal aborts first. */
export async function enterInTurn(
  scheduler: FairScheduler,
  { organizationId, requestId }: Asker,
  signal: AbortSignal,
  log: Logger,
): Promise<Disposable> {
  try {
    return await scheduler.acquire(organizationId, signal);
  } catch (error) {
    if (!(error instanceof QueueFull) && error !== signal.reason) throw error;
    // The store is well; it is the organisation that asks for more than its share. Where it waits no longer for another
    // reason, that is told elsewhere or nobody is there.
    const isLate = error instanceof DOMException && error.name === 'TimeoutError';
    if (error instanceof QueueFull || isLate) {
      const why = isLate ? 'its turn did not come in time' : 'its queue is full';
      log.info({ request_id: requestId, organization_id: organizationId, why }, 'a question had no turn');
    }
    throw analyticsUnavailable(COME_BACK_SECONDS);
  }
}
