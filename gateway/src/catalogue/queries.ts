import {
  DEFAULT_DENY,
  DEFAULT_MIN_OUTPUT_TOKENS,
  DEFAULT_OUTPUT_TOKENS,
  type MemberRule,
} from '@gatehouse/contract';
import { type Queryable, type SealedRecord, statement } from '@gatehouse/store';
import type { Protocol } from '../protocols/protocol.ts';

/** A key that exists and is not revoked, as its row says at this moment. */
export interface GatewayKey {
  readonly id: string;
  readonly organizationId: string;
  readonly projectId: string;
  readonly prefix: string;
  readonly rateLimitRpm: number;
  /** Null when every model may be used. */
  readonly allowedModels: readonly string[] | null;
  readonly isExpired: boolean;
}

export interface Provider {
  readonly name: string;
  readonly protocol: 'openai' | 'anthropic' | 'demo';
  readonly baseUrl: string | null;
  /** The name of the variable with the platform's own key; null when the provider needs none. */
  readonly apiKeyEnv: string | null;
  /** The member, or members, under which the provider reads the output cap. */
  readonly outputLimit: 'max_tokens' | 'max_completion_tokens' | 'both';
  /** The members of a request that are refused on the platform's own key. */
  readonly deny: readonly MemberRule[];
}

export interface Route {
  readonly id: string;
  readonly provider: Provider;
  readonly upstreamModel: string;
  readonly endpoints: readonly string[];
  readonly inputMicroPkrPerMillion: bigint;
  readonly outputMicroPkrPerMillion: bigint;
  readonly cacheWriteMicroPkrPerMillion: bigint;
  readonly cacheReadMicroPkrPerMillion: bigint;
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

export interface ModelRow {
  readonly id: string;
  readonly provider: string;
  readonly updatedAtSeconds: bigint;
}

const findKeyStatement = statement<GatewayKey>(
  'gateway-find-key',
  `SELECT id, organization_id AS "organizationId", project_id AS "projectId", key_prefix AS "prefix",
          rate_limit_rpm AS "rateLimitRpm", allowed_models AS "allowedModels",
          coalesce(expires_at <= clock_timestamp(), false) AS "isExpired"
   FROM api_keys WHERE secret_hash = $1 AND revoked_at IS NULL`,
);

/** The key with this SHA-256, unless it was revoked. */
export function findKey(database: Queryable, secretHash: Buffer): Promise<GatewayKey | undefined> {
  return database.one(findKeyStatement, [secretHash]);
}

type RouteRow = Omit<Route, 'provider' | 'vaultRecord' | 'allow'> & {
  readonly providerName: string;
  readonly protocol: Provider['protocol'];
  readonly baseUrl: string | null;
  readonly apiKeyEnv: string | null;
  readonly outputLimit: Provider['outputLimit'];
  /** Null for the default list. */
  readonly deny: readonly MemberRule[] | null;
  readonly providerAllow: readonly MemberRule[];
  readonly routeAllow: readonly MemberRule[];
  readonly version: bigint | null;
  readonly masterKeyId: string | null;
  readonly wrappedKey: Buffer | null;
  readonly sealedKey: Buffer | null;
};

const findRouteStatement = statement<RouteRow>(
  'gateway-find-route',
  `SELECT r.id, r.upstream_model AS "upstreamModel", r.endpoints,
          r.input_micro_pkr_per_million AS "inputMicroPkrPerMillion",
          r.output_micro_pkr_per_million AS "outputMicroPkrPerMillion",
          r.cache_write_micro_pkr_per_million AS "cacheWriteMicroPkrPerMillion",
          r.cache_read_micro_pkr_per_million AS "cacheReadMicroPkrPerMillion",
          r.byok_fee_millionths AS "byokFeeMillionths",
          r.max_output_tokens AS "maxOutputTokens",
          coalesce(r.default_output_tokens, least(${DEFAULT_OUTPUT_TOKENS}, r.max_output_tokens)) AS "defaultOutputTokens",
          coalesce(r.min_output_tokens, least(${DEFAULT_MIN_OUTPUT_TOKENS}, r.max_output_tokens)) AS "minOutputTokens",
          r.max_input_tokens AS "maxInputTokens", r.timeout_ms AS "timeoutMs",
          p.name AS "providerName", p.protocol, p.base_url AS "baseUrl", p.api_key_env AS "apiKeyEnv",
          p.output_limit AS "outputLimit",
          p.deny, p.allow AS "providerAllow", r.allow AS "routeAllow",
          v.version, v.master_key_id AS "masterKeyId", v.wrapped_key AS "wrappedKey", v.sealed_key AS "sealedKey"
   FROM routes r JOIN providers p ON p.name = r.provider
   LEFT JOIN vault_keys v ON v.organization_id = $2 AND v.provider = p.name
     AND p.api_key_env IS NOT NULL
   WHERE r.id = $1 AND r.is_active`,
);

/**
 * The active route with exactly this id, its provider, and the organisation's own key for that one. A provider that takes
 * no key is platform capacity whatever the vault holds. Guarded by byok.http.test.ts.
 */
export async function findRoute(
  database: Queryable,
  id: string,
  organizationId: string,
): Promise<Route | undefined> {
  const row = await database.one(findRouteStatement, [id, organizationId]);
  if (!row) return undefined;
  const { providerName, protocol, baseUrl, apiKeyEnv, outputLimit, deny, ...others } = row;
  const { version, masterKeyId, wrappedKey, sealedKey, providerAllow, routeAllow, ...route } = others;
  return {
    ...route,
    provider: { name: providerName, protocol, baseUrl, apiKeyEnv, outputLimit, deny: deny ?? DEFAULT_DENY },
    allow: [...providerAllow, ...routeAllow],
    vaultRecord:
      version === null || masterKeyId === null || wrappedKey === null || sealedKey === null
        ? undefined
        : { organizationId, provider: providerName, version, masterKeyId, wrappedKey, sealedKey },
  };
}

const listModelsStatement = statement<ModelRow>(
  'gateway-list-models',
  `SELECT r.id, r.provider,
          extract(epoch FROM date_trunc('second', r.updated_at))::bigint AS "updatedAtSeconds"
   FROM routes r JOIN providers p ON p.name = r.provider
   WHERE r.is_active AND $2 = ANY (r.endpoints) AND p.protocol = ANY ($3)
     AND ($1::text[] IS NULL OR r.id = ANY ($1))
   ORDER BY r.id COLLATE "C"`,
);

/** The active routes that can be used in this protocol, only those named when a list is given, by id. */
export function listModels(
  database: Queryable,
  allowedModels: readonly string[] | null,
  { endpoint, providers }: Pick<Protocol, 'endpoint' | 'providers'>,
): Promise<ModelRow[]> {
  return database.many(listModelsStatement, [allowedModels, endpoint, providers]);
}
