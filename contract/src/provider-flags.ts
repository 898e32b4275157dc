import { DEFAULT_SURFACES, type ProviderProtocol, SURFACE_PATHS, type Surface } from './surfaces.ts';

/** How a provider expects its credential: as a bearer token, as it is in the named header, or not at all. */
export type ProviderAuth = 'bearer' | 'x-api-key' | 'api-key' | 'none' | { readonly header: string };

/**
 * Members that a translated request may send to a provider because it takes them, beyond those that every provider of the format does:
 * members of an assistant's message, and (system_turns) instructions as messages in the middle of a conversation.
 */
export const KEPT_MEMBERS = [
  'reasoning_content',
  'reasoning_details',
  'extra_content',
  'system_turns',
] as const;
export type KeptMember = (typeof KEPT_MEMBERS)[number];

/** A credential that a cloud issues for a while, from where its own programs take theirs. */
export type CloudCredential = AwsCredential | GoogleCredential | AzureCredential;

/** Signatures of version 4, for a region and a service such as bedrock. */
export interface AwsCredential {
  readonly kind: 'aws';
  readonly region: string;
  readonly service: string;
}

export interface GoogleCredential {
  readonly kind: 'google';
  readonly scopes: readonly string[];
}

export interface AzureCredential {
  readonly kind: 'azure';
  readonly scope: string;
}

/** How one provider differs from its protocol. */
export interface ProviderFlags {
  readonly auth: ProviderAuth;
  /** Sent with every request, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** Added to every address, by name; not yet encoded. */
  readonly query: Readonly<Record<string, string>>;
  /**
   * The surfaces of the provider, each with its path below `base_url`, in which `{model}` stands for the provider's model and
   * `{a|b}` for `a`, and for `b` where a stream is asked for.
   */
  readonly surfaces: Readonly<Partial<Record<Surface, string>>>;
  /** True if a stream asks for its usage. `never`: the provider refuses it. `always`: the provider reports usage unasked. */
  readonly streamUsage: 'ask' | 'never' | 'always';
  /** Top-level members that are never sent. */
  readonly drop: readonly string[];
  /** Members of every request, in place of the caller's. */
  readonly add: Readonly<Record<string, string | number | boolean>> | null;
  readonly keep: readonly KeptMember[];
  /** True if only the common members of the format are sent, because the provider refuses unknown ones. */
  readonly strictFields: boolean;
  /** The values of `anthropic-beta`: all forwarded, none, or each by name: renamed, or left out where null. */
  readonly betaHeaders: 'forward' | 'strip' | Readonly<Record<string, string | null>>;
  /** In place of a key: the credential that a cloud issues. */
  readonly credential: CloudCredential | null;
  /** The address of the proxy to the provider, or `none`; null for that of the process. */
  readonly proxy: string | null;
  /** The path of the certificates that may have signed the provider's; null for the usual ones. */
  readonly caFile: string | null;
  /** The paths of the gateway's own certificate for the provider and of its key; both null, or neither. */
  readonly clientCertFile: string | null;
  readonly clientKeyFile: string | null;
}

/** The flags that a catalogue states; what it leaves out depends on the protocol. */
export type StatedProviderFlags = Partial<ProviderFlags>;

const DEFAULT_AUTH: Readonly<Record<ProviderProtocol, ProviderAuth>> = {
  openai: 'bearer',
  anthropic: 'x-api-key',
  demo: 'none',
};

/** All flags of a provider: what the catalogue states, else what its protocol implies. */
export function providerFlags(protocol: ProviderProtocol, stated: StatedProviderFlags): ProviderFlags {
  return {
    auth: stated.credential ? 'none' : DEFAULT_AUTH[protocol],
    headers: {},
    query: {},
    surfaces: Object.fromEntries(DEFAULT_SURFACES[protocol]),
    streamUsage: 'ask',
    drop: [],
    add: null,
    keep: [],
    strictFields: false,
    betaHeaders: protocol === 'anthropic' ? 'forward' : 'strip',
    credential: null,
    proxy: null,
    caFile: null,
    clientCertFile: null,
    clientKeyFile: null,
    ...stated,
  };
}

/** The paths of surfaces that a catalogue lists without paths. */
export function surfacesAtDefaultPaths(surfaces: readonly Surface[]): ProviderFlags['surfaces'] {
  return Object.fromEntries(surfaces.map((surface) => [surface, SURFACE_PATHS[surface]]));
}

// Between these a request, an answer and a stream can be translated.
const TRANSLATED = ['chat', 'responses', 'messages'] as const;

/** The endpoints that callers can call on a route, as a catalogue's `endpoints` name them. */
export const GATEWAY_ENDPOINTS = ['chat', 'completions', 'embeddings', 'responses', 'messages'] as const;
export type GatewayEndpoint = (typeof GATEWAY_ENDPOINTS)[number];

/** The endpoints that a provider with these surfaces can serve, natively or translated. */
export function endpointsServedBy(surfaces: readonly Surface[]): readonly GatewayEndpoint[] {
  const isTranslatable = TRANSLATED.some((surface) => surfaces.includes(surface));
  return GATEWAY_ENDPOINTS.filter(
    (endpoint) => surfaces.includes(endpoint) || (isTranslatable && isTranslated(endpoint)),
  );
}

/** The endpoints of a route that states none: the translated ones, or all that its provider has where it has none of them. */
export function defaultEndpoints(surfaces: readonly Surface[]): readonly GatewayEndpoint[] {
  const served = endpointsServedBy(surfaces);
  const translated = served.filter(isTranslated);
  return translated.length > 0 ? translated : served;
}

function isTranslated(endpoint: GatewayEndpoint): boolean {
  return (TRANSLATED as readonly string[]).includes(endpoint);
}
