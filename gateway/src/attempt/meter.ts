import type { Logger } from 'pino';
import type { Route } from '../catalogue/route.ts';
import type { Sent } from '../context/context.ts';
import { type Outcome, workOf } from '../context/outcome.ts';
import { basisOf } from '../credit/billing.ts';
import { costMicroPkr, MAX_MICRO_PKR, shareMillionths } from '../credit/costs.ts';
import { impliedCalls } from '../credit/priced-calls.ts';
import { boundedUsage, MAX_CALLS, mostCompletionTokens } from '../credit/usage-bounds.ts';
import { partsOf } from '../credit/usage-parts.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Call } from '../formats/call.ts';
import type { CountTokens, Usage } from '../formats/protocol.ts';

/** The usage of a request and its cost. */
export interface Metered {
  /** Null when nothing was processed that could be counted. */
  readonly promptTokens: number | null;
  readonly completionTokens: number;
  /** Cache writes of the prompt, beside `promptTokens`. Known on the organisation's own provider key only: the cache is its own. */
  readonly cacheWriteTokens: number | null;
  readonly cacheReadTokens: number | null;
  readonly totalTokens: number;
  /** Generated tokens that reached the caller: all, unless it left before. */
  readonly tokensReceived: number;
  /** True if the tokens are not the provider's own figures: it gave none, or none that can be true. */
  readonly isEstimated: boolean;
  readonly costMicroPkr: bigint;
  /** The error in the provider's figures. */
  readonly usageError: string | null;
}

export const NOTHING_USED: Metered = {
  promptTokens: null,
  completionTokens: 0,
  cacheWriteTokens: null,
  cacheReadTokens: null,
  totalTokens: 0,
  tokensReceived: 0,
  isEstimated: false,
  costMicroPkr: 0n,
  usageError: null,
};

/** The cost of all attempts of the request together. */
export function totalMicroPkr(
  { costMicroPkr }: Pick<Metered, 'costMicroPkr'>,
  { earlierCostMicroPkr }: Pick<Exchange, 'earlierCostMicroPkr'>,
): bigint {
  const sum = costMicroPkr + earlierCostMicroPkr;
  return sum > MAX_MICRO_PKR ? MAX_MICRO_PKR : sum;
}

interface Tokens {
  readonly usage: Usage;
  readonly isEstimated: boolean;
  /** The figure that the provider said was nothing, and was not. */
  readonly unstated?: string;
}

/** The facts of the request. A request that was dispatched has all of it. */
export interface MeterContext {
  readonly route?: Route | undefined;
  readonly call?: Call | undefined;
  readonly heldMicroPkr?: bigint | undefined;
  readonly sent?: Sent | undefined;
}

/** The facts of a request that was dispatched. */
interface Dispatched {
  readonly route: Route;
  readonly call: Call | undefined;
  readonly sent: Sent;
}

/** Counts by the rule of billing.ts: by the provider's own figures where they are to be had, and can be true. */
export async function meter(
  context: MeterContext,
  requestId: Exchange['id'],
  outcome: Outcome,
  log: Logger,
  countTokens: CountTokens,
): Promise<Metered> {
  const { route, call, sent, heldMicroPkr = 0n } = context;
  const basis = basisOf(workOf(outcome));
  if (!route || !sent || basis === 'nothing') return NOTHING_USED;
  const dispatched = { route, call, sent };
  const said = outcome.reading?.usage;
  const { usage: reported, error } = said ? checked(dispatched, requestId, said, log) : {};
  const { usage, isEstimated, unstated } =
    basis === 'reported' && reported
      ? await withoutZeros(dispatched, outcome, reported, countTokens)
      : await larger(dispatched, outcome, reported, countTokens);
  const held = basis === 'held' ? heldTokens(dispatched, usage) : undefined;
  const priced = priceOf(dispatched, held ?? usage);
  const tokensReceived = outcome.kind === 'aborted' ? await outcome.receivedTokens : undefined;
  return {
    ...priced,
    tokensReceived: tokensReceived ?? priced.completionTokens,
    isEstimated: isEstimated || held !== undefined || error !== undefined,
    costMicroPkr: held && heldMicroPkr > priced.costMicroPkr ? heldMicroPkr : priced.costMicroPkr,
    usageError: error ?? unstated ?? null,
  };
}

/**
 * The reported usage except for figures of 0: a prompt was sent, and where text came it was generated. Those are counted here. A caller
 * that asked for no output may be sent its own prompt.
 */
async function withoutZeros(
  { call, sent }: Dispatched,
  outcome: Outcome,
  reported: Usage,
  countTokens: CountTokens,
): Promise<Tokens> {
  const prompt = reported.promptTokens > 0 ? 0 : (call?.promptTokens ?? 0);
  const isStated = reported.completionTokens > 0 || sent.outputCap === 0;
  const completion = isStated ? 0 : ((await outcome.reading?.countGenerated(countTokens)) ?? 0);
  if (prompt === 0 && completion === 0) return { usage: reported, isEstimated: false };
  const usage = {
    ...reported,
    promptTokens: prompt + reported.promptTokens,
    completionTokens: completion + reported.completionTokens,
  };
  return { usage, isEstimated: true, unstated: UNSTATED };
}

const UNSTATED = 'the provider reported no tokens where there were some; settled by what was counted here';

/** The larger of the reported and the counted usage, figure by figure. */
async function larger(
  { call }: Dispatched,
  outcome: Outcome,
  reported: Usage | undefined,
  countTokens: CountTokens,
): Promise<Tokens> {
  const prompt = call?.promptTokens ?? 0;
  const completion = (await outcome.reading?.countGenerated(countTokens)) ?? 0;
  const isCounted = !reported || prompt > reported.promptTokens || completion > reported.completionTokens;
  if (!isCounted) return { usage: reported, isEstimated: false };
  return {
    usage: {
      ...reported,
      promptTokens: Math.max(prompt, reported?.promptTokens ?? 0),
      completionTokens: Math.max(completion, reported?.completionTokens ?? 0),
    },
    isEstimated: true,
  };
}

/** The tokens that credit was set aside for: every choice as long as the cap that the provider was sent. */
function heldTokens({ call, sent }: Dispatched, known: Usage): Usage {
  return {
    ...known,
    completionTokens: Math.max(sent.outputCap * (call?.choices ?? 1), known.completionTokens),
  };
}

/** The usage as far as it can be true, and what is wrong with it where it cannot. */
function checked(
  { route, call, sent: { candidate, outputCap, mostPromptTokens } }: Dispatched,
  requestId: Exchange['id'],
  said: Usage,
  log: Logger,
): { readonly usage: Usage; readonly error?: string } {
  const choices = call?.choices ?? 1;
  const bounds = {
    promptTokens: mostPromptTokens,
    completionTokens: mostCompletionTokens(route, choices),
  };
  const totalCap = outputCap * choices;
  const usage = boundedUsage(said, bounds);
  const about = {
    request_id: requestId,
    route: route.id,
    provider: candidate.target.provider.name,
    reported: { prompt_tokens: said.promptTokens, completion_tokens: said.completionTokens },
  };
  const errors: string[] = [];
  if (said.isContradictory) {
    log.warn(
      { ...about, event: 'usage.contradictory' },
      'totals and parts of the reported usage disagree; settled by the larger ones',
    );
    errors.push(CONTRADICTORY);
  }
  if (usage !== said) {
    const bound = { prompt_tokens: bounds.promptTokens, completion_tokens: bounds.completionTokens };
    log.error(
      { ...about, event: 'usage.impossible', bound },
      'provider reported more tokens than possible; settled at the bound',
    );
    errors.push(impossible(said, usage));
  } else if (said.completionTokens > totalCap) {
    const bound = { completion_tokens: totalCap };
    log.error(
      { ...about, event: 'usage.beyond_output_cap', bound },
      'provider generated more tokens than the output cap it was sent; settled as reported',
    );
  }
  return { usage, ...(errors.length > 0 && { error: errors.join('; ') }) };
}

const CONTRADICTORY = "the totals of the provider's usage disagree with its parts";

function impossible(said: Usage, usage: Usage): string {
  const parts = [
    { name: 'prompt tokens', reported: said.promptTokens, most: usage.promptTokens },
    { name: 'completion tokens', reported: said.completionTokens, most: usage.completionTokens },
    ...Object.entries(said.calls ?? {}).map(([name, reported]) => ({
      name: `calls of ${name}`,
      reported,
      most: MAX_CALLS,
    })),
  ].filter(({ reported, most }) => reported > most);
  const sentences = parts.map(
    ({ name, reported, most }) => `${reported} ${name} where at most ${most} are possible`,
  );
  return `the provider reported ${sentences.join(' and ')}`;
}

type Priced = Omit<Metered, 'tokensReceived' | 'isEstimated' | 'usageError'>;

// The cache figures are shown where the cache is the organisation's own; they are priced either way.
function priceOf({ sent: { candidate } }: Dispatched, usage: Usage): Priced {
  const { isByok, target } = candidate;
  const { promptTokens, completionTokens, cacheWriteTokens, cacheReadTokens } = usage;
  const priced = {
    completionTokens,
    totalTokens: promptTokens + completionTokens,
    costMicroPkr: costMicroPkr(
      target,
      { ...usage, calls: { ...callsImplied(candidate), ...usage.calls } },
      shareMillionths(target, isByok),
    ),
  };
  if (!isByok) return { ...priced, promptTokens, cacheWriteTokens: null, cacheReadTokens: null };
  const parts = partsOf(usage);
  return {
    ...priced,
    promptTokens: parts.uncachedTokens,
    cacheWriteTokens:
      cacheWriteTokens === undefined ? null : parts.cacheWrite5mTokens + parts.cacheWrite1hTokens,
    cacheReadTokens: cacheReadTokens === undefined ? null : parts.cacheReadTokens,
  };
}

function callsImplied({ target, providerCall, droppedTools }: Sent['candidate']) {
  return impliedCalls({ names: target.microPkrPerCall.keys(), droppedTools }, providerCall);
}
