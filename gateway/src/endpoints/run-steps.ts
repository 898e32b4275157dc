import { setImmediate as endOfTurn } from 'node:timers/promises';
import { SMALL_BODY_BYTES } from '../bodies/held-body.ts';
import { type Context, type Learned, NOTHING_LEARNED } from '../context/context.ts';
import type { Dependencies } from '../context/dependencies.ts';
import { StaleFacts } from '../credit/stale-facts.ts';
import { type Exchange, stopped } from '../exchange/exchange.ts';
import { type ModelEndpoint, STEPS } from './model-endpoints.ts';
import type { Run } from './step-table.ts';

// A request whose body has come with its headers is prepared with the facts that were read for earlier requests, where
// they are known, and the statement that admits it compares their versions. So it needs this one statement. Whatever
// refuses it before, and a version that has changed, only mean that the steps run once more, with facts that are read for
// it. No refusal is ever made from presumed facts. Other requests need two statements: the key is read when the headers
// are there.

/** Runs the steps of the endpoint, at most twice. */
export async function runSteps(
  endpoint: ModelEndpoint,
  exchange: Exchange,
  dependencies: Dependencies,
): Promise<Run<Learned & Pick<Context, 'outcome'>>> {
  const { column } = endpoint;
  const start = { ...NOTHING_LEARNED, endpoint: endpoint.endpoint, mayPresume: false };
  if (!(await mayPresume(endpoint, exchange))) return STEPS.run(column, start, exchange, dependencies);
  const run = await STEPS.run(column, { ...start, mayPresume: true }, exchange, dependencies);
  if (!isToBeRepeated(run)) return run;
  // What presumed facts say is no answer, for a request that must not go on either.
  if (exchange.stopReason !== undefined) return { ...run, error: stopped(exchange.stopReason) };
  return STEPS.run(column, { ...start, ...keptOf(run) }, exchange, dependencies);
}

/** True if a statement will admit the request, and its whole body, a small one, has come already. */
async function mayPresume(
  { isFree }: ModelEndpoint,
  { request, expectsContinue }: Exchange,
): Promise<boolean> {
  if (isFree || expectsContinue) return false;
  const announced = request.headers['content-length'];
  if (announced === undefined || Number(announced) > SMALL_BODY_BYTES) return false;
  // What came together with the headers is parsed in the same turn of the event loop.
  if (!request.complete) await endOfTurn();
  return request.complete;
}

type FailedRun = Extract<Run<Learned>, { kind: 'failed' }>;

/** True if presumed facts may have been the reason: once the reservation was judged, they were compared. */
function isToBeRepeated(run: Run<Learned>): run is FailedRun {
  if (run.kind === 'done' || run.learned.readWith?.isPresumed !== true) return false;
  return run.learned.isHeld === undefined || run.error instanceof StaleFacts;
}

/** The facts that do not depend on presumed ones. The request is counted once and its body is read once. */
function keptOf({ learned, error }: FailedRun) {
  const { rate, callersBody, heldBody, model, isStream, call, bodyError } = learned;
  // Its bytes are gone once they were read.
  const isLost = callersBody?.length === 0 && !call && bodyError === undefined;
  if (isLost) heldBody?.release();
  if (!callersBody || !heldBody || isLost)
    return { countedRate: rate, ...(rate?.isAllowed && { bodyError: error }) };
  return { countedRate: rate, callersBody, heldBody, model, isStream, call, bodyError };
}
