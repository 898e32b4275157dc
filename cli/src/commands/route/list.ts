import { DEFAULT_DENY, decimalFromMicroPkr, type MemberRule, pkrNumber } from '@gatehouse/contract';
import { listRouteOverviews, type RouteOverview } from '@gatehouse/control-plane';
import { canServe } from '@gatehouse/gateway';
import type { Context } from '../command.ts';
import { withDatabase } from '../database.ts';
import { columns, print, shown } from '../output.ts';

// A fee is kept in millionths of the price, and shown in percent.
const MILLIONTHS_PER_PERCENT = 10_000;

export function listCatalogue(context: Context): Promise<number> {
  return withDatabase(context, async (database) => {
    const routes = await listRouteOverviews(database);
    print(
      context,
      { routes: routes.map(routeDocument) },
      routes.length === 0
        ? ['There is no route yet: the service loads its catalogue when it starts.']
        : columns([
            ['ID', 'PROVIDER', 'ACTIVE', 'ENDPOINTS', 'INPUT', 'OUTPUT (PKR per million tokens)'],
            ...routes.map((route) => [
              shown(route.id),
              shown(route.provider),
              stateInWords(route),
              route.endpoints.join(','),
              decimalFromMicroPkr(route.inputMicroPkrPerMillion),
              decimalFromMicroPkr(route.outputMicroPkrPerMillion),
            ]),
          ]),
    );
    return 0;
  });
}

function stateInWords(route: RouteOverview): string {
  if (!route.isActive) return 'no';
  return canServe(route) ? 'yes' : 'yes, not served by this version';
}

function routeDocument(route: RouteOverview) {
  return {
    id: route.id,
    provider: {
      name: route.provider,
      protocol: route.protocol,
      base_url: route.baseUrl,
      api_key_env: route.apiKeyEnv,
      output_limit: route.outputLimit,
    },
    upstream_model: route.upstreamModel,
    endpoints: route.endpoints,
    active: route.isActive,
    built_in: route.isBuiltIn,
    served: canServe(route),
    price_pkr_per_million: {
      input: pkrNumber(route.inputMicroPkrPerMillion),
      output: pkrNumber(route.outputMicroPkrPerMillion),
      cache_write: pkrNumber(route.cacheWriteMicroPkrPerMillion),
      cache_read: pkrNumber(route.cacheReadMicroPkrPerMillion),
    },
    byok_fee_percent: Number(route.byokFeeMillionths) / MILLIONTHS_PER_PERCENT,
    max_output_tokens: Number(route.maxOutputTokens),
    default_output_tokens: Number(route.defaultOutputTokens),
    min_output_tokens: Number(route.minOutputTokens),
    max_input_tokens: route.maxInputTokens === null ? null : Number(route.maxInputTokens),
    deny: rulesDocument(route.deny ?? DEFAULT_DENY),
    allow: rulesDocument(route.allow),
    timeout_ms: route.timeoutMs,
  };
}

/** As a catalogue file writes them. */
function rulesDocument(rules: readonly MemberRule[]) {
  return rules.map(({ member, values }) => (values === null ? member : { [member]: values }));
}
