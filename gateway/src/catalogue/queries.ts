import {
  DEFAULT_DENY,
  type KeyId,
  type MemberRule,
  type OrganizationId,
  outputCapsOf,
  type ProjectId,
  providerFlags,
  type StatedProviderFlags,
  type Surface,
  type TokenHash,
} from '@gatehouse/contract';
import {
  memberName,
  type Queryable,
  ROUTE_SETTINGS_DOCUMENT,
  type RouteSetting,
  type SealedRecord,
  sql,
  statement,
} from '@gatehouse/store';
import type { PriceTier, Provider, Route, RouteSettings, Target } from './route.ts';

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
  /** True if requests of its project may use the platform's credentials after the organisation's own key failed. */
  readonly byokFallback: boolean;
}

/** A key, and the versions of what it was read with. */
export interface ReadKey {
  readonly key: GatewayKey;
  /** Raised by every change of what is read of a key; not by its revocation and its expiry. */
  readonly factsRevision: bigint;
  /** The vault revision of its organisation: raised by every change of its stored keys and of a project's fallback. */
  readonly vaultRevision: bigint;
  readonly catalogueVersion: bigint;
  /** True if it was read by the secret from before its rotation, whose time is judged for every request. */
  readonly isPrevious: boolean;
}

type KeyRow = GatewayKey & Omit<ReadKey, 'key'> & { readonly secretHash: TokenHash };

const KEY_FACTS = sql`k.id, k.organization_id, k.project_id, k.rate_limit_rpm, k.allowed_models,
           coalesce(k.expires_at <= clock_timestamp(), false) AS is_expired, p.byok_fallback,
           k.facts_revision, coalesce(v.revision, 0) AS vault_revision, c.version AS catalogue_version`;
const FROM_KEYS = sql`FROM api_keys k JOIN projects p ON p.id = k.project_id
    LEFT JOIN vault_revisions v ON v.organization_id = k.organization_id
    CROSS JOIN catalogue_version c`;

export const listKeysStatement = statement<{ secretHashes: readonly TokenHash[] }, KeyRow>(
  'gateway-list-keys',
  sql`
    SELECT k.secret_hash, k.key_prefix AS prefix, false AS is_previous, ${KEY_FACTS}
    ${FROM_KEYS}
    WHERE k.secret_hash = ANY (${'secretHashes'}) AND k.revoked_at IS NULL
    UNION ALL
    SELECT s.secret_hash, s.key_prefix, true, ${KEY_FACTS}
    ${FROM_KEYS} JOIN previous_secrets s ON s.key_id = k.id
    WHERE s.secret_hash = ANY (${'secretHashes'}) AND s.valid_until > clock_timestamp() AND k.revoked_at IS NULL`,
);

export const notePreviousUse = statement<{ secretHashes: readonly TokenHash[] }>(
  'gateway-note-previous-use',
  sql`UPDATE previous_secrets SET last_used_at = clock_timestamp() WHERE secret_hash = ANY (${'secretHashes'})`,
);

/** Lists the keys with these hashes that exist and are not revoked, in any order. */
export async function listKeys(
  database: Queryable,
  secretHashes: readonly TokenHash[],
): Promise<{ readonly secretHash: TokenHash; readonly read: ReadKey }[]> {
  const rows = await database.many(listKeysStatement, { secretHashes });
  return rows.map(({ secretHash, factsRevision, vaultRevision, catalogueVersion, isPrevious, ...key }) => ({
    secretHash,
    read: { key, factsRevision, vaultRevision, catalogueVersion, isPrevious },
  }));
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

type TargetRow = Pick<Route, 'id' | 'endpoints'> &
  Omit<Target, 'provider' | 'priceTiers' | 'microPkrPerCall'> & {
    /** By the names of their columns. */
    readonly settings: Readonly<Record<RouteSetting, unknown>>;
    readonly providerName: string;
    readonly protocol: Provider['protocol'];
    readonly baseUrl: string | null;
    readonly outputLimit: Provider['outputLimit'];
    readonly flags: StatedProviderFlags;
    /** Null where the provider takes no key. */
    readonly credentials: Provider['credentials'] | null;
    readonly priceTiers: readonly StoredTier[];
    readonly pricePerCall: Readonly<Record<string, number>>;
    /** Null for the default list. */
    readonly deny: readonly MemberRule[] | null;
    readonly providerAllow: readonly MemberRule[];
    readonly catalogueVersion: bigint;
  };

// No name is both an alias and the id of an active route, so the rows are of one route: one for each of its targets.
const TARGETS_OF_ROUTES = sql`
    SELECT r.id, r.endpoints, ${ROUTE_SETTINGS_DOCUMENT} AS settings,
           t.upstream_model, t.input_micro_pkr_per_million, t.output_micro_pkr_per_million,
           t.cache_write_micro_pkr_per_million, t.cache_read_micro_pkr_per_million,
           t.cache_write_1h_micro_pkr_per_million, t.price_tiers, t.price_per_call, t.byok_fee_millionths,
           t.priority, t.weight,
           p.name AS provider_name, p.protocol, p.base_url, p.output_limit, p.flags, p.deny, p.allow AS provider_allow,
           (SELECT json_agg(json_build_object('name', c.name, 'apiKeyEnv', c.api_key_env, 'weight', c.weight)
                            ORDER BY c.position)
            FROM provider_credentials c WHERE c.provider = p.name) AS credentials,
           v.version AS catalogue_version
    FROM routes r
    JOIN route_targets t ON t.route_id = r.id
    JOIN providers p ON p.name = t.provider
    CROSS JOIN catalogue_version v`;

export const findRouteStatement = statement<{ name: string }, TargetRow>(
  'gateway-find-route',
  sql`${TARGETS_OF_ROUTES}
    WHERE r.is_active
      AND r.id = ANY (ARRAY[${'name'}, (SELECT a.route_id FROM route_aliases a WHERE a.alias = ${'name'})])
    ORDER BY t.position`,
);

/** A route without any organisation's own keys, and the version of the catalogue that it was read with. */
export interface ReadRoute {
  readonly route: Route;
  readonly catalogueVersion: bigint;
}

/** The active route with exactly this id or alias. */
export async function findRoute(database: Queryable, name: string): Promise<ReadRoute | undefined> {
  return readRoute(await database.many(findRouteStatement, { name }));
}

export const findAnyRouteStatement = statement<{ id: string }, TargetRow>(
  'gateway-find-any-route',
  sql`${TARGETS_OF_ROUTES}
    WHERE r.id = ${'id'} ORDER BY t.position`,
);

/** The route with exactly this id, active or not. */
export async function findAnyRoute(database: Queryable, id: string): Promise<ReadRoute | undefined> {
  return readRoute(await database.many(findAnyRouteStatement, { id }));
}

function readRoute([first, ...others]: readonly TargetRow[]): ReadRoute | undefined {
  if (!first) return undefined;
  const route: Route = {
    ...readSettings(first.settings),
    id: first.id,
    targets: [readTarget(first), ...others.map(readTarget)],
    endpoints: first.endpoints,
    vaultRecords: new Map(),
  };
  return { route, catalogueVersion: first.catalogueVersion };
}

function readSettings(document: TargetRow['settings']): RouteSettings {
  const settings = Object.fromEntries(
    Object.entries(document).map(([column, value]) => [memberName(column), value]),
  ) as unknown as RouteSettings;
  const { maxOutputTokens, defaultOutputTokens, minOutputTokens } = settings;
  const { usual, least } = outputCapsOf(maxOutputTokens, defaultOutputTokens, minOutputTokens);
  return { ...settings, defaultOutputTokens: usual, minOutputTokens: least };
}

function readTarget(row: TargetRow): Target {
  const { protocol, deny } = row;
  const flags = providerFlags(protocol, row.flags);
  return {
    provider: {
      name: row.providerName,
      protocol,
      baseUrl: row.baseUrl,
      credentials: row.credentials ?? [],
      outputLimit: row.outputLimit,
      surfaces: new Map(Object.entries(flags.surfaces) as [Surface, string][]),
      flags,
      deny: deny ?? DEFAULT_DENY,
      allow: row.providerAllow,
    },
    upstreamModel: row.upstreamModel,
    inputMicroPkrPerMillion: row.inputMicroPkrPerMillion,
    outputMicroPkrPerMillion: row.outputMicroPkrPerMillion,
    cacheWriteMicroPkrPerMillion: row.cacheWriteMicroPkrPerMillion,
    cacheReadMicroPkrPerMillion: row.cacheReadMicroPkrPerMillion,
    cacheWrite1hMicroPkrPerMillion: row.cacheWrite1hMicroPkrPerMillion,
    priceTiers: row.priceTiers.map(readTier),
    microPkrPerCall: new Map(Object.entries(row.pricePerCall).map(([call, price]) => [call, BigInt(price)])),
    byokFeeMillionths: row.byokFeeMillionths,
    priority: row.priority,
    weight: row.weight,
  };
}

/** The keys for providers that an organisation stored, and the revision that they were read with. */
export interface ReadVault {
  /** By the provider's name. */
  readonly records: ReadonlyMap<string, SealedRecord>;
  readonly vaultRevision: bigint;
}

interface VaultRow {
  readonly vaultRevision: bigint;
  readonly provider: string | null;
  readonly version: bigint | null;
  readonly masterKeyId: string | null;
  readonly wrappedKey: Buffer | null;
  readonly sealedKey: Buffer | null;
}

export const listVaultStatement = statement<{ organizationId: OrganizationId }, VaultRow>(
  'gateway-list-vault',
  sql`
    SELECT coalesce(r.revision, 0) AS vault_revision, v.provider, v.version, v.master_key_id, v.wrapped_key, v.sealed_key
    FROM (SELECT ${'organizationId'}::uuid AS id) AS o
    LEFT JOIN vault_revisions r ON r.organization_id = o.id
    LEFT JOIN vault_keys v ON v.organization_id = o.id`,
);

export async function readVault(database: Queryable, organizationId: OrganizationId): Promise<ReadVault> {
  const rows = await database.many(listVaultStatement, { organizationId });
  const records = new Map<string, SealedRecord>();
  for (const { provider, version, masterKeyId, wrappedKey, sealedKey } of rows) {
    if (provider === null || version === null || masterKeyId === null || !wrappedKey || !sealedKey) continue;
    records.set(provider, { organizationId, provider, version, masterKeyId, wrappedKey, sealedKey });
  }
  return { records, vaultRevision: rows[0]?.vaultRevision ?? 0n };
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
