import {
  GATEWAY_ENDPOINTS,
  type GatewayEndpoint,
  MAX_ROUTE_ID_LENGTH,
  type ProviderProtocol,
  providerFlags,
  type StatedProviderFlags,
  type Surface,
} from '@gatehouse/contract';
import { z } from 'zod';
import { CLOUD_CREDENTIAL_MEMBERS } from './cloud-credential-file.ts';
import { commonDefaultEndpoints } from './common-endpoints.ts';
import {
  apiKeyEnv,
  type CatalogueCredential,
  CredentialMembers,
  Credentials,
  credentialsOf,
} from './credentials-file.ts';
import { text } from './file-text.ts';
import { MemberRules } from './member-rules-file.ts';
import { PriceMembers, TierMembers } from './price-file.ts';
import { PROVIDER_FLAG_MEMBERS, statedFlags } from './provider-flags-file.ts';
import {
  type CatalogueTarget,
  MAX_TARGETS,
  PRICE_MEMBERS,
  TargetMembers,
  Targets,
  targetsOf,
  upstreamModel,
} from './targets-file.ts';

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

const milliseconds = z.int().min(0).max(86_400_000);
// A request that waits holds its body in memory.
const MAX_QUEUE_MS = 600_000;

const tokens = z.int().min(1).max(100_000_000);

export const Provider = z.strictObject({
  protocol: z.enum(['openai', 'anthropic']),
  base_url: text(
    isBaseUrl,
    'an address starting with http:// or https://, without a user name, a query or a fragment',
  ).transform((value) => value.replace(/\/+$/, '')),
  api_key_env: apiKeyEnv.optional(),
  credentials: Credentials.optional(),
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
  provider: z.string().optional(),
  upstream_model: upstreamModel.optional(),
  targets: Targets.optional(),
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
  ...PRICE_MEMBERS,
  max_output_tokens: tokens,
  default_output_tokens: tokens.optional(),
  min_output_tokens: tokens.optional(),
  max_input_tokens: tokens.optional(),
  allow: MemberRules.default([]),
  timeout_ms: milliseconds.min(1).default(600_000),
  max_attempts: z.int().min(1).max(MAX_TARGETS).default(3),
  attempt_timeout_ms: milliseconds.min(1).optional(),
  queue_ms: milliseconds.max(MAX_QUEUE_MS).default(0),
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
  'protocol' | 'base_url' | 'output_limit' | 'deny' | 'allow'
> & {
  readonly flags: StatedProviderFlags;
  /** Empty where the provider takes no key. */
  readonly credentials: readonly CatalogueCredential[];
};

export type CatalogueRoute = Omit<
  z.output<typeof Route>,
  'endpoints' | 'provider' | 'upstream_model' | 'targets' | keyof typeof PRICE_MEMBERS
> & {
  readonly endpoints: readonly GatewayEndpoint[];
  readonly targets: readonly CatalogueTarget[];
};

export interface Catalogue {
  readonly providers: Readonly<Record<string, CatalogueProvider>>;
  readonly routes: readonly CatalogueRoute[];
}

export const CatalogueFile = Members.transform(({ providers, routes }): Catalogue => {
  const surfaces = new Map<string, readonly Surface[]>([[BUILT_IN_PROVIDER, surfacesOf('demo', {})]]);
  const resolved: [string, CatalogueProvider][] = [];
  for (const [name, provider] of Object.entries(providers)) {
    const { protocol, base_url, output_limit, deny, allow } = provider;
    const credentials = credentialsOf(provider);
    const flags = statedFlags(provider);
    surfaces.set(name, surfacesOf(protocol, flags));
    resolved.push([name, { protocol, base_url, credentials, output_limit, deny, allow, flags }]);
  }
  return {
    providers: Object.fromEntries(resolved),
    routes: routes.map((route) => {
      const { provider: _provider, upstream_model: _model, ...members } = route;
      const {
        price_pkr_per_million: _tokens,
        price_pkr_per_call: _calls,
        byok_fee_percent: _fee,
        ...others
      } = members;
      const targets = targetsOf(route);
      const isBuiltIn = targets.every(({ provider }) => provider === BUILT_IN_PROVIDER);
      const surfacesOfTargets = targets.map(({ provider }) => surfaces.get(provider) ?? []);
      return {
        ...others,
        targets,
        aliases: route.aliases.toSorted(),
        endpoints: route.endpoints ?? commonDefaultEndpoints(surfacesOfTargets, isBuiltIn),
      };
    }),
  };
});

/** The surfaces of a provider. */
export function surfacesOf(protocol: ProviderProtocol, flags: StatedProviderFlags): readonly Surface[] {
  return Object.keys(providerFlags(protocol, flags).surfaces) as Surface[];
}

/** The member names accepted at a path of the file; undefined where the path is not a known mapping. */
export function membersAt(path: readonly PropertyKey[]): readonly string[] | undefined {
  if (path.length === 0) return Object.keys(Members.shape);
  const [list, , ...rest] = path;
  if (list === 'providers') return path.length >= 2 ? membersOfProvider(rest) : undefined;
  return list === 'routes' && path.length >= 2 ? membersOfRoute(rest) : undefined;
}

function membersOfProvider([member, ...rest]: readonly PropertyKey[]): readonly string[] | undefined {
  if (member === undefined) return Object.keys(Provider.shape);
  if (member === 'credential' && rest.length === 0) return CLOUD_CREDENTIAL_MEMBERS;
  return member === 'credentials' && rest.length === 1 ? Object.keys(CredentialMembers.shape) : undefined;
}

function membersOfRoute([member, ...rest]: readonly PropertyKey[]): readonly string[] | undefined {
  if (member === undefined) return Object.keys(Route.shape);
  if (member === 'price_pkr_per_million') return membersOfPrice(rest);
  if (member !== 'targets' || rest.length === 0) return undefined;
  const [, memberOfTarget, ...others] = rest;
  if (memberOfTarget === undefined) return Object.keys(TargetMembers.shape);
  return memberOfTarget === 'price_pkr_per_million' ? membersOfPrice(others) : undefined;
}

function membersOfPrice([member, ...rest]: readonly PropertyKey[]): readonly string[] | undefined {
  if (member === undefined) return Object.keys(PriceMembers.shape);
  return member === 'tiers' && rest.length === 1 ? Object.keys(TierMembers.shape) : undefined;
}
