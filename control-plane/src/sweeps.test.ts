import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { type Database, openDatabase, SERVICE_ROLE } from '@gatehouse/store';
import { runSql, useTestDatabase } from '@gatehouse/store/testing';
import { sweepKeptItems, sweepUpstreamStates } from './catalogue/index.ts';
import { sweepEndedSecrets, sweepIdempotencyKeys } from './keys/index.ts';
import { sweepEndedWindows } from './limits/index.ts';
import { waitingForLocks } from './testing/hold-organization.ts';

// Every API deletes what has no effect any more, and no node leads: several do it at the same moment.

const NODES = 4;
const OLD = 2_000;
const YOUNG = 50;

const test = await useTestDatabase();
const sql = () => runSql(test.owner);

interface Sweep {
  readonly what: string;
  readonly table: string;
  readonly sweep: (database: Database) => Promise<void>;
  /** Makes one row per name: old ones, which have no effect, and young ones. */
  readonly insert: (names: readonly string[], isOld: boolean) => Promise<unknown>;
  /** Makes a row young again, in an open transaction. */
  readonly renew: string;
  readonly name: string;
}

const sweeps: readonly Sweep[] = [
  {
    what: 'Idempotency-Keys',
    table: 'idempotency_keys',
    sweep: sweepIdempotencyKeys,
    insert: (names, isOld) => sql()`
      INSERT INTO idempotency_keys (organization_id, idempotency_key, api_key_id, created_at)
      SELECT organization_id, given, id, clock_timestamp() - CASE WHEN ${isOld} THEN interval '25 hours' ELSE interval '23 hours' END
      FROM api_keys, unnest(${names}::text[]) AS given`,
    renew: 'UPDATE idempotency_keys SET created_at = clock_timestamp() WHERE idempotency_key = $1',
    name: 'idempotency_key',
  },
  {
    what: 'states of upstreams',
    table: 'upstream_states',
    sweep: sweepUpstreamStates,
    insert: (names, isOld) => sql()`
      INSERT INTO upstream_states (instance, provider, upstream_model, credential, state, reason, updated_at)
      SELECT name, 'one', 'm', 'default', 'closed', 'status 429',
             clock_timestamp() - CASE WHEN ${isOld} THEN interval '61 minutes' ELSE interval '59 minutes' END
      FROM unnest(${names}::text[]) AS name`,
    renew: 'UPDATE upstream_states SET updated_at = clock_timestamp() WHERE instance = $1',
    name: 'instance',
  },
  {
    what: 'items of translated responses',
    table: 'kept_items',
    sweep: sweepKeptItems,
    insert: (names, isOld) => sql()`
      INSERT INTO kept_items (organization_id, id_hash, sealed, kept_until)
      SELECT o.id, decode(md5(given) || md5(given), 'hex'), given::bytea,
             clock_timestamp() + CASE WHEN ${isOld} THEN interval '-1 minute' ELSE interval '1 minute' END
      FROM organizations o, unnest(${names}::text[]) AS given`,
    renew:
      "UPDATE kept_items SET kept_until = clock_timestamp() + interval '1 hour' WHERE sealed = $1::text::bytea",
    name: "convert_from(sealed, 'UTF8')",
  },
  {
    what: 'secrets of rotated keys',
    table: 'previous_secrets',
    sweep: sweepEndedSecrets,
    insert: (names, isOld) => sql()`
      WITH made AS (
        INSERT INTO api_keys (organization_id, project_id, name, key_prefix, secret_hash, rate_limit_rpm, environment)
        SELECT p.organization_id, p.id, given, 'sk_svc_abcde', sha256(given::bytea), 60, 'production'
        FROM projects p, unnest(${names}::text[]) AS given
        RETURNING id, organization_id, name)
      INSERT INTO previous_secrets (key_id, organization_id, secret_hash, key_prefix, valid_until)
      SELECT id, organization_id, sha256((name || ' before')::bytea), name,
             clock_timestamp() + CASE WHEN ${isOld} THEN interval '-1 second' ELSE interval '1 minute' END
      FROM made`,
    renew:
      "UPDATE previous_secrets SET valid_until = clock_timestamp() + interval '1 hour' WHERE key_prefix = $1",
    name: 'key_prefix',
  },
  {
    what: 'windows of spend limits',
    table: 'spend_windows',
    sweep: sweepEndedWindows,
    insert: (names, isOld) => sql()`
      WITH made AS (
        INSERT INTO spend_limits (organization_id, scope_kind, time_window, time_zone, limit_micro_pkr, mode, alert_at)
        SELECT id, 'organization', 'hour', 'UTC', 1, 'refuse', '{}' FROM organizations RETURNING id)
      INSERT INTO spend_windows (limit_id, value, started_at, ends_at)
      SELECT id, given, clock_timestamp() - interval '26 hours',
             clock_timestamp() - CASE WHEN ${isOld} THEN interval '25 hours' ELSE interval '23 hours' END
      FROM made, unnest(${names}::text[]) AS given`,
    renew: 'UPDATE spend_windows SET ends_at = clock_timestamp() WHERE value = $1',
    name: 'value',
  },
];

const named = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`);

beforeEach(async () => {
  const [organization] = await runSql<{ id: string }>(test.owner)`
    INSERT INTO organizations (name, name_key) SELECT id, id FROM (SELECT gen_random_uuid()::text) AS n (id)
    WHERE NOT EXISTS (SELECT FROM organizations) RETURNING id`;
  if (organization === undefined) return;
  await sql()`INSERT INTO projects (organization_id, name) VALUES (${organization.id}, 'Default')`;
  await sql()`
    INSERT INTO api_keys (organization_id, project_id, name, key_prefix, secret_hash, rate_limit_rpm, environment)
    SELECT organization_id, id, 'k', 'sk_svc_abcde', sha256(uuid_send(id)), 60, 'production' FROM projects`;
});

for (const { what, table, sweep, insert, renew, name } of sweeps)
  describe(`the sweep of ${what}`, () => {
    /** Each node has a pool of its own. */
    const onNodes = async (work: (nodes: readonly Database[]) => Promise<void>) => {
      await using stack = new AsyncDisposableStack();
      const nodes = Array.from({ length: NODES }, () =>
        stack.use(openDatabase({ ...test.address, user: SERVICE_ROLE }, { poolSize: 1 })),
      );
      await work(nodes);
    };
    const left = async () => {
      const client = await test.owner.connect();
      const { rows } = await client.query<{ name: string }>(
        `SELECT ${name} AS name FROM ${table} ORDER BY 1`,
      );
      await client.end();
      return rows.map((row) => row.name);
    };

    it('deletes each old row on several nodes at once, and no other', async () => {
      await insert(named('old', OLD), true);
      await insert(named('young', YOUNG), false);
      await onNodes(async (nodes) => {
        await Promise.all(nodes.map(sweep));
        assert.deepEqual(await left(), named('young', YOUNG).toSorted());
        await Promise.all(nodes.map(sweep));
      });
      assert.deepEqual(await left(), named('young', YOUNG).toSorted());
    });

    it('leaves a row that becomes young while all of them wait for it', async () => {
      await insert(['renewed', 'gone'], true);
      const writer = await test.owner.connect();
      await writer.query('BEGIN');
      await writer.query(renew, ['renewed']);
      await onNodes(async (nodes) => {
        const sweeping = Promise.all(nodes.map(sweep));
        await waitingForLocks(test.owner, NODES);
        await writer.query('COMMIT');
        await sweeping;
      });
      await writer.end();
      const rest = (await left()).filter((one) => !one.startsWith('young'));
      assert.deepEqual(rest, ['renewed']);
    });
  });
