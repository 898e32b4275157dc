import { GatewayError } from '../http/gateway-error.ts';
import type { Context } from '../pipeline/context.ts';
import type { Dependencies } from '../pipeline/dependencies.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { Outcome } from '../pipeline/outcome.ts';
import { checkDenied } from './check-denied.ts';
import { dispatch } from './dispatch.ts';
import { findApiKey } from './find-api-key.ts';
import { prepare } from './prepare.ts';

// How a provider says that it does not count tokens.
const NOT_SERVED: ReadonlySet<number> = new Set([404, 405, 501]);
// Errors that mean: the provider cannot be asked, may not be sent the request, or did not answer. The gateway counts then.
const UNASKED: ReadonlySet<string> = new Set([
  'upstream_not_configured',
  'invalid_request',
  'upstream_error',
]);

type Needs = Pick<Context, 'key' | 'rate' | 'endpoint' | 'call' | 'route' | 'target' | 'heldBody'>;

/**
 * The tokens of a prompt: counted by the provider where it can be asked, and otherwise here. Nothing is generated, so no
 * credit is held and nothing is billed. The provider's own errors about the request pass as they came.
 */
export async function countPrompt(
  context: Needs,
  exchange: Exchange,
  dependencies: Dependencies,
): Promise<Pick<Context, 'outcome' | 'isByok'>> {
  const isByok = context.route.vaultRecords.has(context.target.provider.name);
  const outcome = await askProvider({ ...context, isByok }, exchange, dependencies);
  return { isByok, outcome: outcome ?? countedHere(context.call.promptTokens) };
}

/** How asking the provider ended; undefined when it does not count. */
async function askProvider(
  context: Needs & Pick<Context, 'isByok'>,
  exchange: Exchange,
  dependencies: Dependencies,
): Promise<Outcome | undefined> {
  const { provider } = context.target;
  const upstream = dependencies.upstreams.find(provider);
  if (!upstream || !provider.surfaces.has('count_tokens')) return undefined;
  try {
    const providerCall = context.call;
    const { apiKey } = await findApiKey(context, exchange, dependencies);
    const sent = {
      ...context,
      ...checkDenied({ ...context, providerCall }),
      surface: 'count_tokens',
      providerCall,
      translation: undefined,
      upstream,
      apiKey,
      outputCap: 0,
      loweredOutputCap: undefined,
    } as const;
    const { outcome } = await dispatch({ ...sent, ...prepare(sent, exchange) }, exchange, dependencies);
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
