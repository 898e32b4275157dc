import { abortResponse, finish, sendError, sendWhole } from '../http/answers.ts';
import { CallerGone, serviceUnavailable } from '../http/gateway-error.ts';
import { toGatewayError } from '../http/to-gateway-error.ts';
import type { Protocol } from '../protocols/protocol.ts';
import { authenticate } from '../steps/authenticate.ts';
import { checkDenied } from '../steps/check-denied.ts';
import { checkDisk } from '../steps/check-disk.ts';
import { checkExpiry } from '../steps/check-expiry.ts';
import { checkModel } from '../steps/check-model.ts';
import { dispatch } from '../steps/dispatch.ts';
import { findRoute } from '../steps/find-route.ts';
import { findUpstream } from '../steps/find-upstream.ts';
import { meter, NOTHING_USED } from '../steps/meter.ts';
import { readBody } from '../steps/read-body.ts';
import { readModel } from '../steps/read-model.ts';
import { record } from '../steps/record.ts';
import { releaseSurplus } from '../steps/release-surplus.ts';
import { reserveCredit } from '../steps/reserve-credit.ts';
import { takeRate } from '../steps/take-rate.ts';
import type { Dependencies } from './dependencies.ts';
import type { Exchange } from './exchange.ts';
import { CALLER_GONE_STATUS, type Outcome } from './outcome.ts';

// A request for a model's answer, from its first header to its last byte.
//
// `answer` is the list of steps. Each enforces one rule and throws one kind of error; what it returns is what the next
// ones need. Whatever stops the list yields exactly one outcome, and every outcome is metered, recorded, the surplus of
// its hold released, and delivered, in that order. The record is written before the last byte is sent, so an answer that
// a caller has in full is on record exactly once, and the unspent part of its hold is free for the caller's next request.

/** Serves one request to its end. */
export async function serveCompletion(
  protocol: Protocol,
  exchange: Exchange,
  dependencies: Dependencies,
): Promise<void> {
  const outcome = await answer(protocol, exchange, dependencies).catch((error: unknown) =>
    outcomeOf(error, exchange, dependencies),
  );
  try {
    await conclude(exchange, outcome, dependencies);
  } catch (error) {
    dependencies.log.error(
      { event: 'request.not_recorded', request_id: exchange.id, err: error },
      'request not recorded; its answer was not delivered',
    );
    exchange.remark = 'not recorded';
    abandon(exchange);
  } finally {
    exchange.heldBody?.release();
  }
}

async function answer(protocol: Protocol, exchange: Exchange, dependencies: Dependencies): Promise<Outcome> {
  const { journal, rates } = dependencies;
  checkDisk(exchange, journal);
  const key = await authenticate(exchange, dependencies);
  exchange.key = key;
  checkExpiry(key);
  await takeRate(exchange, key, rates);
  const call = await readModel(
    exchange,
    key,
    protocol,
    await readBody(exchange, key, dependencies),
    dependencies,
  );
  checkModel(key, exchange.model);
  const route = await findRoute(exchange, protocol.endpoint, key, dependencies);
  const destination = await findUpstream(exchange, route, protocol, dependencies);
  checkDenied(exchange, route, call);
  const outputCap = await reserveCredit(exchange, key, route, call, dependencies);
  return dispatch({ exchange, protocol, call, route, destination, outputCap }, dependencies);
}

/** The outcome that an error amounts to. */
function outcomeOf(error: unknown, exchange: Exchange, dependencies: Dependencies): Outcome {
  const { response } = exchange;
  const aborted = {
    kind: 'aborted',
    reading: undefined,
    isStream: false,
    isComplete: false,
    hasWork: false,
    finalEvent: undefined,
  } as const;
  if (error instanceof CallerGone) {
    return { ...aborted, status: CALLER_GONE_STATUS, termination: 'client_disconnect', upstreamError: null };
  }
  const refused = toGatewayError(error, exchange, dependencies.log);
  if (!response.headersSent) return { kind: 'refused', error: refused };
  return {
    ...aborted,
    status: response.statusCode,
    termination: 'upstream_stream_aborted',
    upstreamError: null,
  };
}

async function conclude(exchange: Exchange, outcome: Outcome, dependencies: Dependencies): Promise<void> {
  const { clock, journal, log, rates, readers, refused } = dependencies;
  const { key } = exchange;
  if (key) {
    exchange.rate ??= await rates.peek(key.id, key.rateLimitRpm);
    const metered = await meter(exchange, outcome, log, (texts) =>
      readers.countTokens(key.organizationId, texts),
    ).catch((error: unknown) => {
      log.error(
        { event: 'request.not_metered', request_id: exchange.id, err: error },
        'request not metered; it was recorded without usage',
      );
      return NOTHING_USED;
    });
    await record(exchange, key, outcome, metered, { journal, refused, nowMs: clock.monotonic() });
    await releaseSurplus(exchange, key, metered.costMicroPkr, dependencies);
  }
  deliver(exchange, outcome);
}

/** Sends what is left to send. */
function deliver(exchange: Exchange, outcome: Outcome): void {
  switch (outcome.kind) {
    case 'refused':
      sendError(exchange, outcome.error);
      break;
    case 'answered':
      sendWhole(exchange, outcome.status, outcome.headers, outcome.body);
      break;
    case 'streamed':
      finish(exchange, outcome.tail);
      break;
    case 'aborted':
      if (outcome.finalEvent) finish(exchange, outcome.finalEvent);
      else abortResponse(exchange);
  }
}

/** Nothing may be delivered that is not on record. */
function abandon(exchange: Exchange): void {
  if (exchange.response.headersSent) abortResponse(exchange);
  else sendError(exchange, serviceUnavailable());
}
