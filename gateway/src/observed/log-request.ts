import { decimalFromMicroPkr } from '@gatehouse/contract';
import { pathOf, requestLogFields } from '@gatehouse/http';
import { type Context, MODEL_OPERATIONS, type Operation } from '../context/context.ts';
import { CALLER_GONE_STATUS, type RecordedOutcome } from '../context/outcome.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { FinishedRequest } from '../journal/finished-request.ts';
import { maskKeys } from '../wire/text.ts';
import { providerFailure } from './provider-failure.ts';

const MAX_MODEL_LENGTH = 256;

/** The contents of a request's log line beside its identity, status and times. */
export interface LogContext {
  readonly key?: Context['key'] | undefined;
  readonly model?: Context['model'] | undefined;
  /** Undefined where nothing answers to the request. */
  readonly operation?: Operation;
  /** The outcome in the request log; undefined where it has no entry there. */
  readonly recorded?: Pick<RecordedOutcome, 'status' | 'termination'> | undefined;
  /** The route's id; undefined where none has the name. */
  readonly route?: string | undefined;
  /** The code of a refusal. */
  readonly refusal?: string | undefined;
  /** Its record. */
  readonly finished?: Pick<FinishedRequest, 'costMicroPkr' | 'attempts'> | undefined;
  /** The reason for a 503. */
  readonly remark?: string | undefined;
}

/** The fields of a request's log line. The query and the bodies, which can hold private data, are left out. */
export function requestFields(
  exchange: Exchange,
  context: LogContext,
  nowMs: number,
): Readonly<Record<string, unknown>> {
  const { request } = exchange;
  const { operation, key, model = '', route, recorded, refusal, finished, remark } = context;
  const isGone = isGoneUnanswered(exchange);
  return {
    ...requestLogFields({
      request_id: exchange.id,
      operation,
      method: request.method,
      path: maskKeys(pathOf(request.url ?? '')),
      status: statusOf(exchange, context),
      ms: (exchange.leftAtMs ?? nowMs) - exchange.startedAtMs,
    }),
    ...(key && { organization_id: key.organizationId, key_prefix: key.prefix }),
    ...(model !== '' && { model: maskKeys(model.slice(0, MAX_MODEL_LENGTH)) }),
    ...(route !== undefined && { route }),
    ...(refusal !== undefined && { refusal }),
    ...(finished && finished.attempts.length > 0 && attemptFields(finished)),
    ...(asksModel(operation) && {
      termination: recorded?.termination ?? (isGone ? 'client_disconnect' : 'success'),
    }),
    ...(remark !== undefined && { remark }),
  };
}

function attemptFields({ attempts, costMicroPkr }: NonNullable<LogContext['finished']>) {
  const failure = providerFailure(attempts);
  return {
    cost_pkr: decimalFromMicroPkr(costMicroPkr),
    ...(attempts.length > 1 && { attempts: attempts.length }),
    ...(failure && { failed_provider: failure.provider, failure: failure.reason }),
  };
}

/** The status of the answer, as the request log has it. */
export function statusOf(exchange: Exchange, { recorded }: Pick<LogContext, 'recorded'>): number {
  if (recorded) return recorded.status;
  return isGoneUnanswered(exchange) ? CALLER_GONE_STATUS : exchange.response.statusCode;
}

function isGoneUnanswered({ stopReason, response }: Exchange): boolean {
  return stopReason === 'caller_gone' && !response.headersSent;
}

function asksModel(operation: Operation | undefined): boolean {
  return MODEL_OPERATIONS.some((one) => one === operation);
}
