import { UnreadAnswer } from '@gatehouse/http';
import { type Metered, meter, NOTHING_USED, totalMicroPkr } from '../attempt/meter.ts';
import type { Context, Learned } from '../context/context.ts';
import type { Dependencies } from '../context/dependencies.ts';
import { type Outcome, type RecordedOutcome, recordedOutcome } from '../context/outcome.ts';
import { outcomeOfError } from '../context/outcome-of-error.ts';
import { serviceUnavailable } from '../errors/gateway-error.ts';
import { type AnswerContext, abortResponse, finish, sendError, sendWhole } from '../exchange/answers.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { FinishedRequest } from '../journal/finished-request.ts';
import type { LogContext } from '../observed/log-request.ts';
import type { ModelEndpoint } from './model-endpoints.ts';
import { type RecordDependencies, record } from './record.ts';
import { releaseSurplus } from './release-surplus.ts';
import { runSteps } from './run-steps.ts';

// A request to a model endpoint, from its first header to its last byte. Its steps are a column of the table in
// endpoints.ts.
//
// Whatever stops the steps yields exactly one outcome, and every outcome is metered, recorded, the surplus of its hold
// queued to be released, and delivered, in that order. The record is written before the last byte is sent, so an answer that a
// caller has in full is on record exactly once, and the unspent part of its hold is free for the caller's next request.

export type ServeDependencies = Dependencies & RecordDependencies;

/** Serves one request to its end. Returns what the log line says of it. */
export async function serve(
  endpoint: ModelEndpoint,
  exchange: Exchange,
  dependencies: ServeDependencies,
): Promise<LogContext> {
  const { log, rates } = dependencies;
  const { isRecorded, isFree } = endpoint;
  const run = await runSteps(endpoint, exchange, dependencies);
  const outcome =
    run.kind === 'done'
      ? run.learned.outcome
      : outcomeOfError(run.error, run.learned, exchange, dependencies);
  let learned: Learned = run.learned;
  let recorded: RecordedOutcome | undefined;
  let finished: FinishedRequest | undefined;
  let remark = outcome.kind === 'refused' ? outcome.error.remark : undefined;
  const refusal = outcome.kind === 'refused' ? outcome.error.code : undefined;
  try {
    const { key } = learned;
    if (key) {
      if (!learned.rate) learned = { ...learned, rate: await rates.peek(key.id, key.rateLimitRpm) };
      if (isRecorded) {
        const context = { ...learned, key, isFree, outcome };
        const metered = isFree ? NOTHING_USED : await meterOutcome(context, exchange, outcome, dependencies);
        recorded = recordedOutcome(outcome, exchange.stopReason === 'caller_gone');
        finished = await record(context, exchange, recorded, metered, dependencies);
        const { organizationId } = key;
        await keepItems(exchange, outcome, learned, organizationId, dependencies);
        const { heldMicroPkr } = learned;
        const costMicroPkr = totalMicroPkr(metered, exchange);
        void releaseSurplus({ organizationId, heldMicroPkr }, exchange, costMicroPkr, dependencies);
      }
    }
    deliver(exchange, outcome, learned);
    if (outcome.kind === 'answered' && outcome.isOwn && key) countUnread(exchange, key, dependencies);
  } catch (error) {
    log.error(
      { event: 'request.not_recorded', request_id: exchange.id, err: error },
      'request not recorded; its answer was not delivered',
    );
    remark = 'not recorded';
    abandon(exchange, learned);
  } finally {
    learned.heldBody?.release();
  }
  return {
    key: learned.key,
    model: learned.model,
    route: learned.route?.id,
    recorded,
    finished,
    refusal,
    remark,
  };
}

/** Meters the usage of the request. A request that cannot be metered is recorded without usage. */
async function meterOutcome(
  context: Learned & Pick<Context, 'key'>,
  { id, earlierCostMicroPkr }: Exchange,
  outcome: Outcome,
  { log, readers }: Pick<Dependencies, 'log' | 'readers'>,
): Promise<Metered> {
  try {
    // The attempts before took their part of the hold.
    const heldMicroPkr = (context.heldMicroPkr ?? 0n) - earlierCostMicroPkr;
    const { route, call, sent } = context;
    const used = { route, call, sent, heldMicroPkr };
    return await meter(used, id, outcome, log, (texts) =>
      readers.countTokens(context.key.organizationId, texts),
    );
  } catch (error) {
    log.error(
      { event: 'request.not_metered', request_id: id, err: error },
      'request not metered; it was recorded without usage',
    );
    return NOTHING_USED;
  }
}

/** Keeps the items of a translated answer, where its caller may refer to them. */
async function keepItems(
  { id }: Pick<Exchange, 'id'>,
  outcome: Outcome,
  { sent }: Learned,
  organizationId: Context['key']['organizationId'],
  { keptItems }: Pick<Dependencies, 'keptItems'>,
): Promise<void> {
  if (sent?.outgoing.answerForm.translation?.notes.itemSeed === undefined) return;
  const isStream = outcome.kind === 'streamed';
  const bytes = isStream ? outcome.tail : outcome.kind === 'answered' ? outcome.body : undefined;
  if (bytes) await keptItems.keep({ bytes, isStream }, id, organizationId);
}

/** Sends what is left to send. */
function deliver(exchange: Exchange, outcome: Outcome, context: AnswerContext): void {
  switch (outcome.kind) {
    case 'refused':
      sendError(exchange, outcome.error, context);
      break;
    case 'answered':
      sendWhole(exchange, outcome.status, outcome.headers, outcome.body, context);
      break;
    case 'streamed':
      finish(exchange, outcome.tail);
      break;
    case 'aborted':
      if (outcome.finalEvent) finish(exchange, outcome.finalEvent);
      else abortResponse(exchange);
  }
}

function countUnread(
  { response }: Exchange,
  { organizationId }: Context['key'],
  { unreadAnswers }: Pick<Dependencies, 'unreadAnswers'>,
): void {
  new UnreadAnswer(unreadAnswers, organizationId, response).countEnded();
}

/** Nothing may be delivered that is not on record. */
function abandon(exchange: Exchange, context: Learned): void {
  const error = serviceUnavailable();
  if (!exchange.response.headersSent) {
    sendError(exchange, error, context);
    return;
  }
  const finalEvent = context.sent?.outgoing.streamError(error, exchange.id);
  if (finalEvent) finish(exchange, finalEvent);
  else abortResponse(exchange);
}
