import { createHash } from 'node:crypto';
import { type Database, sql, statement, type TelemetryClient } from '@gatehouse/store';
import { rowsOf } from './stores.ts';

// The accounts to which a filled store belongs, in the control plane's database under the ids that the requests name.
// Written directly: signing up would choose other ids. A folder that is kept has them already.

const insertOrganization = statement<{ id: string }>(
  'bench-analytics-organization',
  sql`
    WITH o AS (INSERT INTO organizations (id, name, name_key)
               VALUES (${'id'}::uuid, 'Bench ' || ${'id'}::text, 'bench ' || ${'id'}::text) ON CONFLICT DO NOTHING)
    INSERT INTO balances (organization_id, deposited_micro_pkr) VALUES (${'id'}::uuid, 1000000000000000)
    ON CONFLICT DO NOTHING`,
);
const insertProject = statement<{ id: string; organizationId: string; name: string }>(
  'bench-analytics-project',
  sql`INSERT INTO projects (id, organization_id, name) VALUES (${'id'}, ${'organizationId'}, ${'name'})
      ON CONFLICT DO NOTHING`,
);
const insertKey = statement<{ id: string; organizationId: string; projectId: string; name: string }>(
  'bench-analytics-key',
  sql`
    INSERT INTO api_keys (id, organization_id, project_id, name, key_prefix, secret_hash, rate_limit_rpm, environment)
    VALUES (${'id'}, ${'organizationId'}, ${'projectId'}, ${'name'}, 'sk_svc_benchkey', uuid_send(${'id'}::uuid), 60,
            'production')
    ON CONFLICT DO NOTHING`,
);
const insertSession = statement<{ organizationId: string; email: string; tokenHash: Uint8Array }>(
  'bench-analytics-session',
  sql`
    WITH u AS (INSERT INTO users (organization_id, email, role) VALUES (${'organizationId'}, ${'email'}, 'owner')
               ON CONFLICT (email) DO UPDATE SET email = excluded.email RETURNING id),
         s AS (INSERT INTO sessions (user_id, refresh_token_hash, refresh_expires_at)
               SELECT id, uuid_send(gen_random_uuid()), clock_timestamp() + interval '30 days' FROM u RETURNING id)
    INSERT INTO access_tokens (token_hash, session_id, expires_at)
    SELECT ${'tokenHash'}, id, clock_timestamp() + interval '30 days' FROM s
    ON CONFLICT (token_hash) DO UPDATE SET expires_at = excluded.expires_at`,
);

/** Makes the accounts of every organisation in the request log. */
export async function insertAccounts(
  owner: Database,
  client: TelemetryClient,
  database: string,
): Promise<void> {
  const keys = await rowsOf<{ organization_id: string; project_id: string; key_id: string }>(
    client,
    `SELECT organization_id, assumeNotNull(project_id) AS project_id, assumeNotNull(key_id) AS key_id
     FROM ${database}.request_log WHERE isNotNull(key_id) AND isNotNull(project_id)
     GROUP BY ALL ORDER BY ALL`,
  );
  for (const [index, id] of distinct(keys.map((key) => key.organization_id)).entries()) {
    await owner.run(insertOrganization, { id });
    await owner.run(insertSession, { organizationId: id, email: emailOf(id), tokenHash: tokenHash(id) });
    for (const project of distinct(
      keys.filter((key) => key.organization_id === id).map((key) => key.project_id),
    )) {
      await owner.run(insertProject, { id: project, organizationId: id, name: `Project ${index + 1}` });
    }
  }
  for (const [index, key] of keys.entries()) {
    await owner.run(insertKey, {
      id: key.key_id,
      organizationId: key.organization_id,
      projectId: key.project_id,
      name: `Key ${index + 1}`,
    });
  }
}

const distinct = (ids: readonly string[]) => [...new Set(ids)];
const emailOf = (organizationId: string) => `${organizationId}@bench.example`;
const tokenOf = (organizationId: string) => `bench-${organizationId}`;
const tokenHash = (id: string) => createHash('sha256').update(tokenOf(id)).digest();

/** The cookie of the organisation's owner. */
export const cookieOf = (organizationId: string) => `svc_access_token=${tokenOf(organizationId)}`;
