import { attempt } from '../attempt/attempt.ts';
import { prepare } from '../attempt/prepare.ts';
import type { Context } from '../context/context.ts';
import type { Dependencies } from '../context/dependencies.ts';
import type { Outcome } from '../context/outcome.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Candidate } from '../routing/candidate.ts';
import { toolsToDrop } from './check-denied.ts';
import { plan } from './plan.ts';

// How a provider says that it does not count tokens.
const NOT_SERVED: ReadonlySet<number> = new Set([404, 405, 501]);
// Errors that mean: the provider cannot be asked, may not be sent the request, or did not answer. The gateway counts then.
const UNASKED: ReadonlySet<string> = new Set([
  'upstream_not_configured',
  'invalid_request',
  'upstream_error',
]);

type Needs = Pick<Context, 'key' | 'rate' | 'endpoint' | 'call' | 'route' | 'heldBody'>;

/**
 * The tokens of a prompt: counted by the provider where it can be asked, and otherwise here. Nothing is generated, so no
 * credit is held and nothing is billed. The provider's own errors about the request pass as they came.
 */
export async function countPrompt(
  context: Needs,
  exchange: Exchange,
  dependencies: Dependencies,
): Promise<Pick<Context, 'outcome'>> {
  const outcome = await askProvider(context, exchange, dependencies);
  return { outcome: outcome ?? countedHere(context.call.promptTokens) };
}

/** How asking a provider ended; undefined when none counts. One is asked: counting here costs less than asking another. */
async function askProvider(
  context: Needs,
  exchange: Exchange,
  dependencies: Dependencies,
): Promise<Outcome | undefined> {
  try {
    const { candidates } = await plan(context, exchange, dependencies);
    const providerCall = context.call;
    const { breakers } = dependencies.routing;
    const isReady = ({ upstreamName }: Candidate) => breakers.openingOf(upstreamName) === undefined;
    const candidate = candidates.find(isReady) ?? candidates[0];
    if (!candidate) return undefined;
    const asked = {
      ...candidate,
      ...toolsToDrop(context.route, { ...candidate, providerCall }),
      providerCall,
      translation: undefined,
    };
    const limits = {
      timeoutMs: context.route.timeoutMs,
      canBeFollowed: false,
      contentTimeoutMs: undefined,
      onContent: () => {},
    };
    exchange.throwIfStopped();
    const sending = { candidate: asked, outputCap: 0, loweredOutputCap: undefined, keptBytes: 0 };
    const sent = prepare(context, sending, exchange);
    const use = breakers.takeAnyway(candidate.upstreamName);
    const { outcome } = await attempt({ ...context, sent }, exchange, dependencies, limits, use);
    return isCount(outcome) ? outcome : undefined;
  } catch (error) {
    if (error instanceof GatewayError && UNASKED.has(error.code)) return undefined;
    throw error;
  }
}

function isCount(outcome: Outcome): boolean {
  if (outcome.kind === 'refused') return !UNASKED.has(outcome.error.code);
  return outcome.kind !== 'answered' || !NOT_SERVED.has(outcome.status);
}

function countedHere(promptTokens: number): Outcome {
  return {
    kind: 'answered',
    status: 200,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: Buffer.from(JSON.stringify({ input_tokens: promptTokens })),
    reading: undefined,
    upstreamError: null,
  };
}
