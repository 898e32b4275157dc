import {
  DEFAULT_DENY,
  DEFAULT_MIN_OUTPUT_TOKENS,
  DEFAULT_OUTPUT_TOKENS,
  type KeyId,
  type MemberRule,
  type OrganizationId,
  type ProjectId,
  type ProviderFlags,
  type ProviderProtocol,
  providerFlags,
  type StatedProviderFlags,
  type Surface,
  type TokenHash,
} from '@gatehouse/contract';
import { type Queryable, type SealedRecord, sql, statement } from '@gatehouse/store';

/** A key that exists and is not revoked, as its row is at this moment. */
export interface GatewayKey {
  readonly id: KeyId;
  readonly organizationId: OrganizationId;
  readonly projectId: ProjectId;
  readonly prefix: string;
  readonly rateLimitRpm: number;
  /** Null when every model may be used. */
  readonly allowedModels: readonly string[] | null;
  readonly isExpired: boolean;
}

export interface Provider {
  readonly name: string;
  readonly protocol: ProviderProtocol;
  readonly baseUrl: string | null;
  /** The name of the variable with the platform's own key; null when the provider needs none. */
  readonly apiKeyEnv: string | null;
  /** The member, or members, under which the provider reads the output cap. */
  readonly outputLimit: 'max_tokens' | 'max_completion_tokens' | 'both';
  /** What it can be asked for, each with its path below the base URL. */
  readonly surfaces: ReadonlyMap<Surface, string>;
  readonly flags: ProviderFlags;
  /** The members of a request that are refused on the platform's own key. */
  readonly deny: readonly MemberRule[];
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

export interface Route extends TokenPrices {
  readonly id: string;
  readonly provider: Provider;
  readonly upstreamModel: string;
  readonly endpoints: readonly string[];
  /** By ascending `abovePromptTokens`; empty where one price is for all. */
  readonly priceTiers: readonly PriceTier[];
  /** What is priced per call, by name. */
  readonly microPkrPerCall: ReadonlyMap<string, bigint>;
  /** The platform's share of the price where the organisation's own key for the provider is used. */
  readonly byokFeeMillionths: bigint;
  readonly maxOutputTokens: bigint;
  /** The output cap of a request that names none. */
  readonly defaultOutputTokens: bigint;
  /** The least that an output cap is lowered to for want of credit. */
  readonly minOutputTokens: bigint;
  /** The most that a prompt can hold; null where the catalogue does not say. */
  readonly maxInputTokens: bigint | null;
  readonly timeoutMs: number;
  /** What the provider's list denies and this route's price covers. */
  readonly allow: readonly MemberRule[];
  /** The organisation's own key for the provider, sealed; undefined where the vault holds none. */
  readonly vaultRecord: SealedRecord | undefined;
}

export const findKeyStatement = statement<{ secretHash: TokenHash }, GatewayKey>(
  'gateway-find-key',
  sql`
    SELECT id, organization_id, project_id, key_prefix AS prefix, rate_limit_rpm, allowed_models,
           coalesce(expires_at <= clock_timestamp(), false) AS is_expired
    FROM api_keys WHERE secret_hash = ${'secretHash'} AND revoked_at IS NULL`,
);

/** The key with this hash, unless it was revoked. */
export function findKey(database: Queryable, secretHash: TokenHash): Promise<GatewayKey | undefined> {
  return database.one(findKeyStatement, { secretHash });
}

/** As the column stores it: JSON has no bigint, and every amount is below 2^53. */
interface StoredTier {
  readonly abovePromptTokens: number;
  readonly input: number;
  readonly output: number;
  readonly cacheWrite: number;
  readonly cacheRead: number;
  readonly cacheWrite1h: number;
}

type RouteRow = Omit<Route, 'provider' | 'vaultRecord' | 'allow' | 'priceTiers' | 'microPkrPerCall'> & {
  readonly providerName: string;
  readonly protocol: Provider['protocol'];
  readonly baseUrl: string | null;
  readonly apiKeyEnv: string | null;
  readonly outputLimit: Provider['outputLimit'];
  readonly flags: StatedProviderFlags;
  readonly priceTiers: readonly StoredTier[];
  readonly pricePerCall: Readonly<Record<string, number>>;
  /** Null for the default list. */
  readonly deny: readonly MemberRule[] | null;
  readonly providerAllow: readonly MemberRule[];
  readonly routeAllow: readonly MemberRule[];
  readonly version: bigint | null;
  readonly masterKeyId: string | null;
  readonly wrappedKey: Buffer | null;
  readonly sealedKey: Buffer | null;
};

// No name is both an alias and the id of an active route, so there is at most one row.
export const findRouteStatement = statement<{ name: string; organizationId: OrganizationId }, RouteRow>(
  'gateway-find-route',
  sql`
    SELECT r.id, r.upstream_model, r.endpoints, r.input_micro_pkr_per_million, r.output_micro_pkr_per_million,
           r.cache_write_micro_pkr_per_million, r.cache_read_micro_pkr_per_million,
           r.cache_write_1h_micro_pkr_per_million, r.price_tiers, r.price_per_call, r.byok_fee_millionths,
           r.max_output_tokens,
           coalesce(r.default_output_tokens, least(${DEFAULT_OUTPUT_TOKENS}, r.max_output_tokens)) AS default_output_tokens,
           coalesce(r.min_output_tokens, least(${DEFAULT_MIN_OUTPUT_TOKENS}, r.max_output_tokens)) AS min_output_tokens,
           r.max_input_tokens, r.timeout_ms,
           p.name AS provider_name, p.protocol, p.base_url, p.api_key_env, p.output_limit, p.flags,
           p.deny, p.allow AS provider_allow, r.allow AS route_allow,
           v.version, v.master_key_id, v.wrapped_key, v.sealed_key
    FROM routes r JOIN providers p ON p.name = r.provider
    LEFT JOIN vault_keys v ON v.organization_id = ${'organizationId'} AND v.provider = p.name
      AND p.api_key_env IS NOT NULL
    WHERE r.is_active
      AND r.id = ANY (ARRAY[${'name'}, (SELECT a.route_id FROM route_aliases a WHERE a.alias = ${'name'})])`,
);

/**
 * The active route with exactly this id or alias, its provider, and the organisation's own key for that provider. A provider that
 * takes no key is platform capacity whatever the vault holds. Guarded by byok.http.test.ts.
 */
export async function findRoute(
  database: Queryable,
  name: string,
  organizationId: OrganizationId,
): Promise<Route | undefined> {
  const row = await database.one(findRouteStatement, { name, organizationId });
  if (!row) return undefined;
  const { providerName, protocol, baseUrl, apiKeyEnv, outputLimit, flags, deny, ...others } = row;
  const { version, masterKeyId, wrappedKey, sealedKey, providerAllow, routeAllow, ...prices } = others;
  const { priceTiers, pricePerCall, ...route } = prices;
  return {
    ...route,
    provider: {
      ...{ name: providerName, protocol, baseUrl, apiKeyEnv, outputLimit, deny: deny ?? DEFAULT_DENY },
      ...flagsAndSurfaces(protocol, flags),
    },
    priceTiers: priceTiers.map(readTier),
    microPkrPerCall: new Map(Object.entries(pricePerCall).map(([call, price]) => [call, BigInt(price)])),
    allow: [...providerAllow, ...routeAllow],
    vaultRecord:
      version === null || masterKeyId === null || wrappedKey === null || sealedKey === null
        ? undefined
        : { organizationId, provider: providerName, version, masterKeyId, wrappedKey, sealedKey },
  };
}

function flagsAndSurfaces(protocol: ProviderProtocol, stated: StatedProviderFlags) {
  const flags = providerFlags(protocol, stated);
  return { flags, surfaces: new Map(Object.entries(flags.surfaces) as [Surface, string][]) };
}

function readTier(tier: StoredTier): PriceTier {
  return {
    abovePromptTokens: BigInt(tier.abovePromptTokens),
    inputMicroPkrPerMillion: BigInt(tier.input),
    outputMicroPkrPerMillion: BigInt(tier.output),
    cacheWriteMicroPkrPerMillion: BigInt(tier.cacheWrite),
    cacheReadMicroPkrPerMillion: BigInt(tier.cacheRead),
    cacheWrite1hMicroPkrPerMillion: BigInt(tier.cacheWrite1h),
  };
}

// Enough to suggest a name; a catalogue of thousands of routes is searched in part.
export const listNamesStatement = statement<{ allowedModels: readonly string[] | null }, { name: string }>(
  'gateway-list-names',
  sql`
    SELECT name FROM (
      SELECT id AS name, id, is_active FROM routes
      UNION ALL
      SELECT a.alias, r.id, r.is_active FROM route_aliases a JOIN routes r ON r.id = a.route_id
    ) AS names
    WHERE is_active AND (${'allowedModels'}::text[] IS NULL OR id = ANY (${'allowedModels'}))
    ORDER BY name COLLATE "C" LIMIT 1000`,
);

/** Ids and aliases of active routes; of a key with a list of models, those on the list. */
export async function listNames(
  database: Queryable,
  allowedModels: readonly string[] | null,
): Promise<string[]> {
  return (await database.many(listNamesStatement, { allowedModels })).map(({ name }) => name);
}
