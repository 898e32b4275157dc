import { type Queryable, statement } from '@gatehouse/store';
import type { Protocol } from './protocols/protocol.ts';

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
}

export interface Route {
  readonly id: string;
  readonly provider: Provider;
  readonly upstreamModel: string;
  readonly endpoints: readonly string[];
  readonly inputMicroPkrPerMillion: bigint;
  readonly outputMicroPkrPerMillion: bigint;
  readonly maxOutputTokens: bigint;
  readonly timeoutMs: number;
}

export interface ModelRow {
  readonly id: string;
  readonly provider: string;
  readonly updatedAtSeconds: bigint;
}

export type Verdict = 'admitted' | 'revoked' | 'expired' | 'key_credit_exhausted' | 'budget_exhausted';

export interface Admission {
  readonly requestId: string;
  readonly keyId: string;
  readonly amountMicroPkr: bigint;
  /** How long the hold may stand before it counts as abandoned. */
  readonly holdMs: number;
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

type RouteRow = Omit<Route, 'provider'> & {
  readonly providerName: string;
  readonly protocol: Provider['protocol'];
  readonly baseUrl: string | null;
  readonly apiKeyEnv: string | null;
};

const findRouteStatement = statement<RouteRow>(
  'gateway-find-route',
  `SELECT r.id, r.upstream_model AS "upstreamModel", r.endpoints,
          r.input_micro_pkr_per_million AS "inputMicroPkrPerMillion",
          r.output_micro_pkr_per_million AS "outputMicroPkrPerMillion",
          r.max_output_tokens AS "maxOutputTokens", r.timeout_ms AS "timeoutMs",
          p.name AS "providerName", p.protocol, p.base_url AS "baseUrl", p.api_key_env AS "apiKeyEnv"
   FROM routes r JOIN providers p ON p.name = r.provider
   WHERE r.id = $1 AND r.is_active`,
);

/** The active route with exactly this id, and its provider. */
export async function findRoute(database: Queryable, id: string): Promise<Route | undefined> {
  const row = await database.one(findRouteStatement, [id]);
  if (!row) return undefined;
  const { providerName, protocol, baseUrl, apiKeyEnv, ...route } = row;
  return { ...route, provider: { name: providerName, protocol, baseUrl, apiKeyEnv } };
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

const admitStatement = statement<{ verdict: Verdict; availableMicroPkr: bigint | null }>(
  'gateway-admit',
  `SELECT verdict, available_micro_pkr AS "availableMicroPkr" FROM admit_request($1, $2, $3, $4)`,
);

/** Judges the key once more and sets the amount aside on it and on its organisation; all of it or nothing. */
export async function admit(
  database: Queryable,
  admission: Admission,
): Promise<{ verdict: Verdict; availableMicroPkr: bigint | null }> {
  const { requestId, keyId, amountMicroPkr, holdMs } = admission;
  const row = await database.one(admitStatement, [requestId, keyId, amountMicroPkr, holdMs]);
  if (!row) throw new Error('admit_request returned no row');
  return row;
}
