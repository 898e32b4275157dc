import type { OrganizationId } from '@gatehouse/contract';
import { sql, statement } from '@gatehouse/store';
import { type Owned, tenantStatement } from '../../tenant-statement.ts';

/** The hashes, in hexadecimal, that a key of any organisation has or had until now. */
export const listTakenHashes = statement<{ hashes: readonly Buffer[] }, { hash: string }>(
  'keys-list-taken-hashes',
  sql`
    SELECT coalesce(encode(secret_hash, 'hex'), '') AS hash FROM api_keys WHERE secret_hash = ANY (${'hashes'}::bytea[])
    UNION
    SELECT encode(secret_hash, 'hex') FROM previous_secrets WHERE secret_hash = ANY (${'hashes'})`,
);

/** The active routes that these are the ids or aliases of. */
export const listRoutesByName = statement<{ names: readonly string[] }, { name: string; routeId: string }>(
  'keys-list-routes-by-name',
  sql`
    SELECT coalesce(name, '') AS name, coalesce(route_id, '') AS route_id FROM (
      SELECT id AS name, id AS route_id FROM routes WHERE id = ANY (${'names'}::text[]) AND is_active
      UNION
      SELECT a.alias, r.id FROM route_aliases a JOIN routes r ON r.id = a.route_id
      WHERE a.alias = ANY (${'names'}) AND r.is_active
    ) AS routes`,
);

export const countLiveKeys = tenantStatement<{ organizationId: OrganizationId }, { keys: bigint }>(
  'keys-count-live',
  sql`SELECT count(*) AS keys FROM api_keys WHERE organization_id = ${'organizationId'} AND revoked_at IS NULL`,
);

// In one statement, and so in one round trip: there may be tens of thousands.
export const insertKeys = tenantStatement<{
  organizationId: OrganizationId;
  projectId: Owned<'project'>;
  keys: string;
}>(
  'keys-insert-imported',
  sql`
    INSERT INTO api_keys (organization_id, project_id, name, key_prefix, secret_hash, rate_limit_rpm, expires_at,
                          credit_limit_micro_pkr, allowed_models, environment)
    SELECT ${'organizationId'}, ${'projectId'}, k.name, k."keyPrefix", decode(k.hash, 'hex'), k."rateLimitRpm", k."expiresAt",
           k."creditLimitMicroPkr", k."allowedModels", 'production'
    FROM jsonb_to_recordset(${'keys'}::jsonb) AS k (
      name text, "keyPrefix" text, hash text, "rateLimitRpm" integer, "expiresAt" timestamptz, "creditLimitMicroPkr" bigint,
      "allowedModels" text[])`,
);

// An entry for each, as for keys that are minted one by one.
export const appendCreations = tenantStatement<{
  organizationId: OrganizationId;
  prefixes: readonly string[];
  sourceIp: string;
}>(
  'keys-append-creations',
  sql`
    SELECT count(append_activity(${'organizationId'}, NULL, 'api_key.created', prefix, ${'sourceIp'})::text)
    FROM unnest(${'prefixes'}::text[]) AS p (prefix)`,
);
