import {
  defaultEndpoints,
  endpointsServedBy,
  GATEWAY_ENDPOINTS,
  type GatewayEndpoint,
  MAX_ROUTE_ID_LENGTH,
  type ProviderProtocol,
  providerFlags,
  type StatedProviderFlags,
  type Surface,
} from '@gatehouse/contract';
import { z } from 'zod';
import { text } from './file-text.ts';
import { MemberRules } from './member-rules-file.ts';
import { CallPrices, Price, PriceMembers, TierMembers } from './price-file.ts';
import { PROVIDER_FLAG_MEMBERS, statedFlags } from './provider-flags-file.ts';
import { percent } from './written-number.ts';

/** The built-in provider; a catalogue may route to it without declaring it. */
export const BUILT_IN_PROVIDER = 'demo';
/** The route to it, which the service adds itself. */
export const BUILT_IN_ROUTE = 'demo/echo';

// A user name, query or fragment would appear in logs, or be lost when a path is appended.
function isBaseUrl(value: string): boolean {
  const url = URL.parse(value);
  return (
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    /^https?:\/\//i.test(value) &&
    url.username === '' &&
    url.password === '' &&
    !/[?#\s]/.test(value)
  );
}

const tokens = z.int().min(1).max(100_000_000);

export const Provider = z.strictObject({
  protocol: z.enum(['openai', 'anthropic']),
  base_url: text(
    isBaseUrl,
    'an address starting with http:// or https://, without a user name, a query or a fragment',
  ).transform((value) => value.replace(/\/+$/, '')),
  api_key_env: text(
    (value) => /^[A-Za-z_][A-Za-z0-9_]{0,254}$/.test(value),
    'the name of an environment variable, such as OPENAI_API_KEY',
  ).optional(),
  output_limit: z.enum(['max_tokens', 'max_completion_tokens', 'both']).default('max_completion_tokens'),
  ...PROVIDER_FLAG_MEMBERS,
  deny: MemberRules.optional(),
  allow: MemberRules.default([]),
});

const MAX_ROUTE_ALIASES = 64;

const routeName = text(
  (value) => /^[\x21-\x7e]+$/.test(value) && value.length <= MAX_ROUTE_ID_LENGTH,
  `1 to ${MAX_ROUTE_ID_LENGTH} printable ASCII characters without spaces`,
);

export const Route = z.strictObject({
  id: routeName,
  provider: z.string(),
  upstream_model: text(
    (value) => value.trim() !== '' && value.length <= MAX_ROUTE_ID_LENGTH,
    `1 to ${MAX_ROUTE_ID_LENGTH} characters`,
  ),
  aliases: z
    .array(routeName)
    .max(MAX_ROUTE_ALIASES, { error: `must have at most ${MAX_ROUTE_ALIASES} aliases` })
    .default([]),
  endpoints: z
    .array(z.enum(GATEWAY_ENDPOINTS))
    .min(1)
    .refine((values) => new Set(values).size === values.length, {
      error: 'must name each endpoint once',
      // Runs even when one of the values is invalid.
      when: ({ value }) => Array.isArray(value),
    })
    .optional(),
  price_pkr_per_million: Price,
  price_pkr_per_call: CallPrices.default({}),
  byok_fee_percent: percent.default(0n),
  max_output_tokens: tokens,
  default_output_tokens: tokens.optional(),
  min_output_tokens: tokens.optional(),
  max_input_tokens: tokens.optional(),
  allow: MemberRules.default([]),
  timeout_ms: z.int().min(1).max(86_400_000).default(600_000),
  active: z.boolean().default(true),
});

const PROVIDER_NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/;

const Members = z.strictObject({
  providers: z.record(
    text((value) => PROVIDER_NAME.test(value), 'a name of lower-case letters, digits, - and _'),
    Provider,
  ),
  routes: z.array(Route),
});

/** A provider, its flags apart from its other members. */
export type CatalogueProvider = Pick<
  z.output<typeof Provider>,
  'protocol' | 'base_url' | 'api_key_env' | 'output_limit' | 'deny' | 'allow'
> & { readonly flags: StatedProviderFlags };

export type CatalogueRoute = Omit<z.output<typeof Route>, 'endpoints'> & {
  readonly endpoints: readonly GatewayEndpoint[];
};

export interface Catalogue {
  readonly providers: Readonly<Record<string, CatalogueProvider>>;
  readonly routes: readonly CatalogueRoute[];
}

export const CatalogueFile = Members.transform(({ providers, routes }): Catalogue => {
  const surfaces = new Map<string, readonly Surface[]>([[BUILT_IN_PROVIDER, surfacesOf('demo', {})]]);
  const resolved: [string, CatalogueProvider][] = [];
  for (const [name, provider] of Object.entries(providers)) {
    const { protocol, base_url, api_key_env, output_limit, deny, allow } = provider;
    const flags = statedFlags(provider);
    surfaces.set(name, surfacesOf(protocol, flags));
    resolved.push([name, { protocol, base_url, api_key_env, output_limit, deny, allow, flags }]);
  }
  return {
    providers: Object.fromEntries(resolved),
    routes: routes.map((route) => ({
      ...route,
      aliases: route.aliases.toSorted(),
      endpoints: route.endpoints ?? endpointsUnlessStated(route.provider, surfaces.get(route.provider) ?? []),
    })),
  };
});

/** The built-in provider is there to try everything with. */
function endpointsUnlessStated(provider: string, surfaces: readonly Surface[]): readonly GatewayEndpoint[] {
  return provider === BUILT_IN_PROVIDER ? endpointsServedBy(surfaces) : defaultEndpoints(surfaces);
}

/** What a provider can be asked for. */
export function surfacesOf(protocol: ProviderProtocol, flags: StatedProviderFlags): readonly Surface[] {
  return Object.keys(providerFlags(protocol, flags).surfaces) as Surface[];
}

/** The member names accepted at a path of the file; undefined where the path is not a known mapping. */
export function membersAt(path: readonly PropertyKey[]): readonly string[] | undefined {
  if (path.length === 0) return Object.keys(Members.shape);
  if (path[0] === 'providers' && path.length === 2) return Object.keys(Provider.shape);
  if (path[0] !== 'routes') return undefined;
  if (path.length === 2) return Object.keys(Route.shape);
  if (path[2] !== 'price_pkr_per_million') return undefined;
  if (path.length === 3) return Object.keys(PriceMembers.shape);
  return path[3] === 'tiers' && path.length === 5 ? Object.keys(TierMembers.shape) : undefined;
}
