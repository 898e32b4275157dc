import { createHash } from 'node:crypto';
import { type Database, statement, type TelemetryClient } from '@gatehouse/store';
import { rowsOf } from './stores.ts';

// The accounts to which a filled store belongs, in the control plane's database under the ids that the requests name.
// Written directly: signing up would choose other ids. A folder that is kept has them already.

const insertOrganization = statement(
  'bench-analytics-organization',
  `WITH o AS (INSERT INTO organizations (id, name, name_key) VALUES ($1::uuid, 'Bench ' || $1::text, 'bench ' || $1::text)
              ON CONFLICT DO NOTHING)
   INSERT INTO balances (organization_id, deposited_micro_pkr) VALUES ($1::uuid, 1000000000000000)
   ON CONFLICT DO NOTHING`,
);
const insertProject = statement(
  'bench-analytics-project',
  `INSERT INTO projects (id, organization_id, name) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
);
const insertKey = statement(
  'bench-analytics-key',
  `INSERT INTO api_keys (id, organization_id, project_id, name, key_prefix, secret_hash, rate_limit_rpm, environment)
   VALUES ($1, $2, $3, $4, 'sk_svc_benchkey', uuid_send($1::uuid), 60, 'production') ON CONFLICT DO NOTHING`,
);
const insertSession = statement(
  'bench-analytics-session',
  `WITH u AS (INSERT INTO users (organization_id, email, role) VALUES ($1, $2, 'owner')
              ON CONFLICT (email) DO UPDATE SET email = excluded.email RETURNING id),
        s AS (INSERT INTO sessions (user_id, refresh_token_hash, refresh_expires_at)
              SELECT id, uuid_send(gen_random_uuid()), clock_timestamp() + interval '30 days' FROM u RETURNING id)
   INSERT INTO access_tokens (token_hash, session_id, expires_at)
   SELECT $3, id, clock_timestamp() + interval '30 days' FROM s
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
    await owner.run(insertOrganization, [id]);
    await owner.run(insertSession, [id, emailOf(id), tokenHash(id)]);
    for (const project of distinct(
      keys.filter((key) => key.organization_id === id).map((key) => key.project_id),
    )) {
      await owner.run(insertProject, [project, id, `Project ${index + 1}`]);
    }
  }
  for (const [index, key] of keys.entries()) {
    await owner.run(insertKey, [key.key_id, key.organization_id, key.project_id, `Key ${index + 1}`]);
  }
}

const distinct = (ids: readonly string[]) => [...new Set(ids)];
const emailOf = (organizationId: string) => `${organizationId}@bench.example`;
const tokenOf = (organizationId: string) => `bench-${organizationId}`;
const tokenHash = (id: string) => createHash('sha256').update(tokenOf(id)).digest();

/** The cookie of the organisation's owner. */
export const cookieOf = (organizationId: string) => `svc_access_token=${tokenOf(organizationId)}`;
