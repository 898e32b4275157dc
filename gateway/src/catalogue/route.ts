import type { MemberRule, ProviderFlags, ProviderProtocol, Surface } from '@gatehouse/contract';
import type { SealedRecord } from '@gatehouse/store';

/** One of the platform's own keys for a provider. */
export interface Credential {
  /** Unique within its provider. */
  readonly name: string;
  /** The name of the variable that holds the key. */
  readonly apiKeyEnv: string;
  /** Its share of the requests beside the other credentials: 1 to 1000. */
  readonly weight: number;
}

export interface Provider {
  readonly name: string;
  readonly protocol: ProviderProtocol;
  readonly baseUrl: string | null;
  /** In the order of the catalogue; empty when the provider takes no key. */
  readonly credentials: readonly Credential[];
  /** The member, or members, under which the provider reads the output cap. */
  readonly outputLimit: 'max_tokens' | 'max_completion_tokens' | 'both';
  /** The surfaces of the provider, each with its path below the base URL. */
  readonly surfaces: ReadonlyMap<Surface, string>;
  readonly flags: ProviderFlags;
  /** The members of a request that are refused on the platform's own key. */
  readonly deny: readonly MemberRule[];
  /** Members that `deny` names and every route of the provider covers. */
  readonly allow: readonly MemberRule[];
}

/** In micro-PKR per million tokens. */
export interface TokenPrices {
  readonly inputMicroPkrPerMillion: bigint;
  readonly outputMicroPkrPerMillion: bigint;
  readonly cacheWriteMicroPkrPerMillion: bigint;
  readonly cacheReadMicroPkrPerMillion: bigint;
  readonly cacheWrite1hMicroPkrPerMillion: bigint;
}

/** The prices of a request whose prompt has more tokens than this. */
export interface PriceTier extends TokenPrices {
  readonly abovePromptTokens: bigint;
}

/** A model of a provider that can answer for a route, and what that costs. */
export interface Target extends TokenPrices {
  readonly provider: Provider;
  readonly upstreamModel: string;
  /** By ascending `abovePromptTokens`; empty where one price is for all. */
  readonly priceTiers: readonly PriceTier[];
  /** The prices per call, by name. */
  readonly microPkrPerCall: ReadonlyMap<string, bigint>;
  /** The platform's share of the price where the organisation's own key for the provider is used. */
  readonly byokFeeMillionths: bigint;
  /** 1 to 100; the lowest number is tried first. */
  readonly priority: number;
  /** Its share of the requests beside the other targets of its priority: 1 to 1000. */
  readonly weight: number;
}

/** 1 to 16, in the order of the catalogue. */
export type Targets = readonly [Target, ...Target[]];

/** The settings of a route that the gateway reads, as the catalogue states them (`max_output_tokens` is `maxOutputTokens`). */
export interface RouteSettings {
  readonly maxOutputTokens: number;
  /** The output cap of a request that names none. */
  readonly defaultOutputTokens: number;
  /** The least that an output cap is lowered to for want of credit. */
  readonly minOutputTokens: number;
  /** The most that a prompt can hold; null where the catalogue does not say. */
  readonly maxInputTokens: number | null;
  /** The time of all attempts together. */
  readonly timeoutMs: number;
  /** 1 to 16. */
  readonly maxAttempts: number;
  /** To the first content of an attempt where another can follow; null for the time limit of the route. */
  readonly attemptTimeoutMs: number | null;
  /** How long a request waits while no target can be tried. */
  readonly queueMs: number;
  /** Members that lists of providers deny and this route's price covers. */
  readonly allow: readonly MemberRule[];
}

export interface Route extends RouteSettings {
  readonly id: string;
  readonly targets: Targets;
  readonly endpoints: readonly string[];
  /** The organisation's own keys for providers of the targets, sealed, by the provider's name. */
  readonly vaultRecords: ReadonlyMap<string, SealedRecord>;
}
