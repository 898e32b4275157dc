import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { gatewayKeyPrefix, generateGatewayKey, hashGatewayKey } from '@gatehouse/contract';
import { openEmbeddedClickHouse, openEmbeddedPostgres } from '@gatehouse/embedded';
import {
  createTelemetryClient,
  type Database,
  migratePostgres,
  migrateTelemetry,
  openDatabase,
  readTelemetryMigrations,
} from '@gatehouse/store';
import { readSchemaAt } from '@gatehouse/store/testing';
import { runCommand } from '../command-process.ts';
import { startService } from '../service-process.ts';

// A data directory as the last version without schema files left it: PostgreSQL at step 13, ClickHouse at version 3.

const STEP = 13;
const TELEMETRY_VERSION = 3;
const REQUESTS = 200;
const TABLES = [
  ...['organizations', 'users', 'projects', 'deposits', 'balances', 'api_keys', 'holds', 'settlements'],
  ...['activity_heads', 'activity_events'],
];
const secret = generateGatewayKey(randomBytes);

const ROWS = `
  INSERT INTO organizations (id, name, name_key)
  SELECT ('00000000-0000-4000-8000-00000000000' || n)::uuid, 'Org ' || n, 'org ' || n FROM generate_series(1, 2) n;
  INSERT INTO users (organization_id, email, role) SELECT id, name_key || '@example.com', 'owner' FROM organizations;
  INSERT INTO projects (organization_id, name) SELECT id, 'Default' FROM organizations;
  INSERT INTO deposits (organization_id, amount_micro_pkr, note) SELECT id, 1000000, 'first' FROM organizations;
  INSERT INTO api_keys (organization_id, project_id, name, key_prefix, secret_hash, rate_limit_rpm, environment,
                        credit_limit_micro_pkr, spent_micro_pkr, held_micro_pkr, unsettled_micro_pkr)
  SELECT o.id, p.id, 'k', 'sk_svc_other', sha256(uuid_send(o.id)), 60, 'production', 500000, 30, 12, 5
  FROM organizations o JOIN projects p ON p.organization_id = o.id;
  INSERT INTO balances (organization_id, deposited_micro_pkr, spent_micro_pkr, held_micro_pkr, unsettled_micro_pkr)
  SELECT id, 1000000, 30, 12, 5 FROM organizations;
  INSERT INTO holds (request_id, key_id, organization_id, amount_micro_pkr, deadline, is_final)
  SELECT gen_random_uuid(), id, organization_id, amount, clock_timestamp() + interval '1 hour', amount = 5
  FROM api_keys, unnest('{7,5}'::bigint[]) AS amount;
  INSERT INTO settlements (request_id, organization_id, key_id, cost_micro_pkr)
  SELECT settlement_bound(clock_timestamp() - n * interval '1 hour'), organization_id, id, 15
  FROM (SELECT *, row_number() OVER (ORDER BY id) AS nth FROM api_keys) k, LATERAL generate_series(2 * nth, 2 * nth + 1) n;
  SELECT append_activity(id, NULL, 'org.renamed', name, '192.0.2.1') FROM organizations, generate_series(1, 3);
`;

describe('a data directory of the version before', () => {
  let dataDir: string;
  let rowsBefore: Record<string, string[]>;
  // Steps add columns; the others are compared.
  const columns = new Map<string, string>();
  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'gatehouse-upgrade-'));
    {
      await using postgres = await openEmbeddedPostgres({ dataDir });
      await using database = openDatabase(postgres.connection, { poolSize: 1 });
      await migratePostgres(database, { schema: await readSchemaAt(STEP), serviceMayLogIn: true });
      const client = await database.connect();
      await client.query(ROWS);
      await client.query(
        `UPDATE api_keys SET secret_hash = $1, key_prefix = $2
         WHERE organization_id = '00000000-0000-4000-8000-000000000001'`,
        [hashGatewayKey(secret), gatewayKeyPrefix(secret)],
      );
      await client.end();
      rowsBefore = await readRows(database);
    }
    {
      await using engine = await openEmbeddedClickHouse({ dataDir });
      await migrateTelemetry(engine, { migrations: readTelemetryMigrations().slice(0, TELEMETRY_VERSION) });
      await using client = createTelemetryClient(engine);
      await client.command({
        query: `INSERT INTO request_log (request_id, organization_id, timestamp, model, status)
          SELECT generateUUIDv4(), toUUID('00000000-0000-4000-8000-000000000001'), now64(6) - number, 'demo/echo', 200
          FROM numbers(${REQUESTS})`,
      });
    }
  });
  after(() => rm(dataDir, { recursive: true, force: true }));

  async function columnsOf(client: Awaited<ReturnType<Database['connect']>>, table: string): Promise<string> {
    const { rows } = await client.query<{ columns: string }>(
      `SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) AS columns FROM pg_attribute
       WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped`,
      [table],
    );
    return rows[0]?.columns ?? assert.fail(table);
  }

  async function readRows(database: Database): Promise<Record<string, string[]>> {
    const client = await database.connect();
    try {
      const rows: Record<string, string[]> = {};
      for (const table of TABLES) {
        columns.set(table, columns.get(table) ?? (await columnsOf(client, table)));
        const found = await client.query<{ row: string }>(
          `SELECT ROW(${columns.get(table)})::text AS row FROM ${table} ORDER BY 1`,
        );
        rows[table] = found.rows.map(({ row }) => row);
      }
      return rows;
    } finally {
      await client.end();
    }
  }

  it('is migrated by a start and served, with every row', async () => {
    for (const table of TABLES) assert.ok((rowsBefore[table]?.length ?? 0) >= 2, table);
    await using service = await startService({ DATA_DIR: dataDir });
    const response = await fetch(`http://127.0.0.1:${service.gatewayPort}/v1/models`, {
      headers: { authorization: `Bearer ${secret}` },
    });
    assert.equal(response.status, 200, await response.text());
    const commands = [
      ['migrate', '--check'],
      ['activity', 'verify'],
    ].map((command) => runCommand(command, { environment: { DATA_DIR: dataDir } }));
    for (const { code, stdout, stderr } of await Promise.all(commands))
      assert.equal(code, 0, stdout + stderr);
    // Both follow the servers of the service.
    await using postgres = await openEmbeddedPostgres({ dataDir });
    await using database = openDatabase(postgres.connection, { poolSize: 1 });
    assert.deepEqual(await readRows(database), rowsBefore);
    await using engine = await openEmbeddedClickHouse({ dataDir });
    await using client = createTelemetryClient(engine);
    const answer = await client.query({
      query: 'SELECT toUInt32(count()) AS n FROM request_log',
      format: 'JSONEachRow',
    });
    assert.deepEqual(await answer.json(), [{ n: REQUESTS }]);
  });
});
