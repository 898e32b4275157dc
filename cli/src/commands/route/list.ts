import { DEFAULT_DENY, decimalFromMicroPkr, type MemberRule, providerFlags } from '@gatehouse/contract';
import {
  callPricesInPkr,
  listRouteOverviews,
  pricesInPkr,
  type RouteOverview,
} from '@gatehouse/control-plane';
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
            ['ID', 'ALIASES', 'PROVIDER', 'ACTIVE', 'ENDPOINTS', 'INPUT', 'OUTPUT (PKR per million tokens)'],
            ...routes.map((route) => [
              shown(route.id),
              route.aliases.map(shown).join(',') || '-',
              shown(route.provider),
              route.isActive ? 'yes' : 'no',
              route.endpoints.join(','),
              decimalFromMicroPkr(route.inputMicroPkrPerMillion),
              decimalFromMicroPkr(route.outputMicroPkrPerMillion),
            ]),
          ]),
    );
    return 0;
  });
}

function routeDocument(route: RouteOverview) {
  return {
    id: route.id,
    aliases: route.aliases,
    provider: {
      name: route.provider,
      protocol: route.protocol,
      base_url: route.baseUrl,
      api_key_env: route.apiKeyEnv,
      output_limit: route.outputLimit,
      ...flagsDocument(route),
    },
    upstream_model: route.upstreamModel,
    endpoints: route.endpoints,
    active: route.isActive,
    built_in: route.isBuiltIn,
    price_pkr_per_million: pricesInPkr(route),
    price_pkr_per_call: callPricesInPkr(route.pricePerCall),
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

/** All of them, those that the catalogue leaves to the protocol too. */
function flagsDocument({ protocol, flags }: RouteOverview) {
  const { streamUsage, strictFields, betaHeaders, ...others } = providerFlags(protocol, flags);
  return { ...others, stream_usage: streamUsage, strict_fields: strictFields, beta_headers: betaHeaders };
}

/** As a catalogue file writes them. */
function rulesDocument(rules: readonly MemberRule[]) {
  return rules.map(({ member, values }) => (values === null ? member : { [member]: values }));
}
