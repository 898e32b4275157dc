import type { Route, Target } from '../catalogue/route.ts';
import type { Context } from '../context/context.ts';
import type { Dependencies } from '../context/dependencies.ts';
import { StepRefusal } from '../context/step.ts';
import { type Limits, reservation, shareMillionths } from '../credit/costs.ts';
import { mostCalls } from '../credit/priced-calls.ts';
import type { Admission, AdmissionDecision } from '../credit/queries.ts';
import { StaleFacts } from '../credit/stale-facts.ts';
import {
  budgetExhausted,
  creditHeld,
  keyCreditExhausted,
  type Need,
  spendLimitReached,
} from '../errors/credit-errors.ts';
import {
  invalidApiKey,
  keyExpired,
  partInWords,
  serviceUnavailableBecause,
  uncountablePart,
} from '../errors/gateway-error.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Call } from '../formats/call.ts';
import { type PermittedCandidate, type PricedCandidate, usable } from '../routing/candidate.ts';

// A request is let through only when what it can cost is free on its key and in its organisation, and that much is set
// aside until it has finished. What it can cost is the prompt as counted here and every choice as long as it may become,
// so the output cap it is priced by is also sent to the provider. Where what is free does not cover the cap that is
// wanted, the cap is lowered to what it covers, but not below the route's floor.

// Beyond the route's timeout: time to settle. After that the hold counts as abandoned.
const SETTLING_MS = 60_000;

type Rejection = Exclude<AdmissionDecision, { kind: 'admitted' }>;

/**
 * 400 for a prompt on platform capacity whose tokens are unknown and unbounded, 402 when what is left of the credit does not suffice,
 * 429 when it does but requests in flight hold it, 401 when the key ended meanwhile. The record of the request says whether credit may
 * be held.
 */
export async function reserveCredit(
  {
    key,
    route,
    call,
    permitted,
    presumed,
  }: Pick<Context, 'key' | 'route' | 'call' | 'permitted' | 'presumed'>,
  exchange: Pick<Exchange, 'id' | 'request' | 'throwIfStopped'>,
  { admissions, metadata }: Pick<Dependencies, 'admissions' | 'metadata'>,
): Promise<Pick<Context, 'isHeld' | 'heldMicroPkr' | 'windowIds' | 'admitted' | 'labels'> | StepRefusal> {
  const priced = usable(permitted, (candidate) => priceOf(candidate, call, route));
  exchange.throwIfStopped();
  const labels = metadata.read(exchange.request.rawHeaders);
  const admit = async (candidates: readonly PricedCandidate[]) => {
    const { need, mostMicroPkr } = holdFor(candidates);
    const decision = await admissions.admit(key.organizationId, {
      requestId: exchange.id,
      keyId: key.id,
      leastMicroPkr: need.microPkr,
      mostMicroPkr,
      isByok: candidates.every(({ isByok }) => isByok),
      holdMs: route.timeoutMs + route.queueMs + SETTLING_MS,
      labels,
      presumed,
    });
    return { decision, need, candidates };
  };

  let admission: Awaited<ReturnType<typeof admit>>;
  try {
    admission = await admit(priced);
    const own = priced.filter(({ isByok }) => isByok);
    const isMixed = own.length > 0 && own.length < priced.length;
    // The organisation's own key may be used without a balance that covers platform capacity.
    if (isMixed && isShortOfBalance(admission.decision)) admission = await admit(own);
  } catch (error) {
    // No answer came, so credit may be held: the journal then looks for a hold to release.
    return new StepRefusal(error, { isHeld: true });
  }
  const { decision, need, candidates } = admission;
  if (decision.kind !== 'admitted') {
    // A key that has ended since its facts were read is looked up, as that of any other request.
    const isStale = presumed !== undefined && (decision.kind === 'revoked' || decision.kind === 'expired');
    return new StepRefusal(refusalFor(isStale ? { kind: 'stale' } : decision, need), { isHeld: false });
  }
  const { grantedMicroPkr: heldMicroPkr, windowIds } = decision;
  return { isHeld: true, heldMicroPkr, windowIds, admitted: candidates, labels };
}

/** The cost of a candidate, by its output cap. Throws the 400 of a prompt that it cannot take. */
function priceOf(
  { target, isByok, providerCall, droppedTools }: PermittedCandidate,
  call: Call,
  route: Route,
): Omit<PricedCandidate, keyof PermittedCandidate> {
  const names = target.microPkrPerCall.keys();
  const calls = mostCalls({ names, droppedTools }, providerCall);
  // A translated one may be larger than the caller's, where the provider has a least.
  const { wanted, floor } = outputCaps(providerCall, route);
  const { uncounted, ...limits } = promptLimits(
    larger(call, providerCall),
    route,
    target.provider,
    isByok,
    calls,
  );
  const { costAt, largestCap } = reservation(target, {
    ...limits,
    choices: call.choices,
    calls,
    shareMillionths: shareMillionths(target, isByok),
  });
  return { wantedOutput: wanted, leastOutput: floor, uncounted, costAt, largestCap };
}

/**
 * One hold for all candidates: enough for the dearest, where that much is free, and for the cheapest at least. A candidate is
 * tried only as far as the hold covers it.
 */
function holdFor(
  candidates: readonly PricedCandidate[],
): { readonly need: Need } & Pick<Admission, 'mostMicroPkr'> {
  const needs = candidates.map(
    ({ costAt, leastOutput, uncounted }): Need => ({ microPkr: costAt(leastOutput), uncounted }),
  );
  const most = candidates.map(({ costAt, wantedOutput }) => costAt(wantedOutput));
  return {
    need: needs.reduce((one, other) => (other.microPkr < one.microPkr ? other : one)),
    mostMicroPkr: most.reduce((one, other) => (other > one ? other : one)),
  };
}

function isShortOfBalance(decision: AdmissionDecision): boolean {
  return (
    decision.kind === 'budget_exhausted' ||
    (decision.kind === 'credit_held' && decision.account === 'organization')
  );
}

/** The larger of two prompts: what the provider is sent may be longer than what the caller sent, and either may be billed. */
function larger(call: Call, { promptTokens }: Call): Call {
  return promptTokens > call.promptTokens ? { ...call, promptTokens } : call;
}

/**
 * The count of the prompt at the provider: as it was counted here, and for the choice of a price tier half as much again, because a
 * provider's tokenizer may find more. Anthropic's do, so that much is held there. A part whose tokens cannot be counted (an image, a file,
 * audio) may fill the route's whole context, and so may what a search brings in. Where the context is not stated the estimate must do, with
 * the organisation's own provider key: the platform's fee is a share of a bill that is not the platform's. On platform capacity such a part
 * is refused.
 */
function promptLimits(
  { promptTokens, uncountableParts, members }: Call,
  { id, maxInputTokens }: Route,
  { protocol }: Target['provider'],
  isByok: boolean,
  calls: Limits['calls'],
): Pick<Limits, 'promptTokens' | 'reach'> & Pick<PricedCandidate, 'uncounted'> {
  const [uncountable] = uncountableParts;
  const context = maxInputTokens ?? undefined;
  const unknown = [
    ...uncountableParts.map((part) => partInWords(part, memberOf(part, members))),
    ...Object.keys(calls).map((name) => `calls of ${name}`),
  ];
  if (context !== undefined && unknown.length > 0) {
    const most = Math.max(promptTokens, context);
    const uncounted = { what: unknown.join(' and '), contextTokens: context };
    return { promptTokens: most, reach: most, uncounted: promptTokens < context ? uncounted : undefined };
  }
  if (uncountable !== undefined && !isByok)
    throw uncountablePart(id, uncountable, memberOf(uncountable, members));
  const estimated = promptTokens + Math.floor(promptTokens / 2);
  const reach = Math.max(promptTokens, context === undefined ? estimated : Math.min(estimated, context));
  return { promptTokens: protocol === 'anthropic' ? reach : promptTokens, reach, uncounted: undefined };
}

/** The member of the body that a part is, or else the one that it is in. */
function memberOf(part: string, members: Call['members']): string {
  return [part, 'input'].find((name) => members.has(name)) ?? 'messages';
}

/**
 * The output cap that is wanted, per choice: the caller's, else the route's default, and never above the route's
 * maximum; and the floor below which it is not lowered, nor below what the request itself needs. A caller's own smaller
 * cap is its own floor.
 */
function outputCaps(
  { outputCap, leastOutputCap = 0 }: Pick<Call, 'outputCap' | 'leastOutputCap'>,
  route: Pick<Route, 'defaultOutputTokens' | 'minOutputTokens' | 'maxOutputTokens'>,
): { readonly wanted: number; readonly floor: number } {
  const wanted = Math.min(outputCap ?? route.defaultOutputTokens, route.maxOutputTokens);
  return { wanted, floor: Math.min(Math.max(route.minOutputTokens, leastOutputCap), wanted) };
}

function refusalFor(decision: Rejection, need: Need): Error {
  switch (decision.kind) {
    case 'stale':
      return new StaleFacts();
    case 'revoked':
      return invalidApiKey();
    case 'expired':
      return keyExpired();
    case 'key_credit_exhausted':
      return keyCreditExhausted(need, decision);
    case 'budget_exhausted':
      return budgetExhausted(need, decision);
    case 'spend_limit_reached':
      return spendLimitReached(decision.spendLimit, need, decision);
    case 'credit_held':
      return creditHeld(decision.account, need, decision);
    case 'id_is_closed':
      // The id says when it was made, by this machine's clock, and the ledger has closed that time long ago.
      return serviceUnavailableBecause("this machine's clock is months behind the database's");
  }
}
