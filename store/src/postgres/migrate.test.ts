import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { createDatabaseAtStep, createTestDatabase, type TestDatabase } from '../testing/index.ts';
import { openDatabase, type PostgresAddress } from './database.ts';
import { DatabaseUnavailable } from './errors.ts';
import { duePostgresMigrations, migratePostgres, requireSchema } from './migrate.ts';
import { requireServiceRole, SERVICE_ROLE } from './roles.ts';
import { readSchema, readSchemaAt, type Schema } from './schema-files.ts';
import { requireSupported } from './server-version.ts';
import { sql } from './sql.ts';
import { type NoParameters, statement } from './statement.ts';

const currentRole = statement<NoParameters, { role: string }>('test-role', sql`SELECT current_user AS role`);

/** The names of all that a new database gets. */
async function allNames(): Promise<string[]> {
  const { steps, files } = await readSchema();
  return [
    ...steps.map(({ number, name }) => `${String(number).padStart(4, '0')}-${name}`),
    ...files.map(({ path }) => path),
  ];
}

describe('migratePostgres', () => {
  let test: TestDatabase;
  const made: string[] = [];
  before(async () => {
    test = await createTestDatabase();
  });
  after(async () => {
    for (const drop of made.toReversed()) await admin(drop);
    await test?.[Symbol.asyncDispose]();
  });

  const run = async (address: PostgresAddress, ...commands: string[]) => {
    await using database = openDatabase(address, { poolSize: 1 });
    const client = await database.connect();
    try {
      for (const command of commands) await client.query(command);
    } finally {
      await client.end();
    }
  };
  const admin = (...commands: string[]) => run(test.address, ...commands);
  const unique = (lead: string) => `${lead}_${randomUUID().replaceAll('-', '')}`;
  /** An empty database and its owner, a login that is no superuser and may take on the roles unless it says otherwise. */
  const newDatabase = async (mayTakeOnRoles = true) => {
    const [database, owner] = [unique('test'), unique('login')];
    await admin(`CREATE ROLE ${owner} LOGIN`, `CREATE DATABASE ${database} OWNER ${owner}`);
    made.push(`DROP ROLE ${owner}`, `DROP DATABASE ${database} WITH (FORCE)`);
    if (mayTakeOnRoles) await admin(`GRANT gatehouse_service, gatehouse_retention TO ${owner}`);
    const { host, port } = test.address;
    return { owner, address: { host, port, database, user: owner } };
  };
  const migrate = async (address: PostgresAddress, schema?: Schema) => {
    await using database = openDatabase(address, { poolSize: 1 });
    return await migratePostgres(database, { serviceMayLogIn: false, ...(schema && { schema }) });
  };
  const due = async (address: PostgresAddress) => {
    await using database = openDatabase(address, { poolSize: 1 });
    return await duePostgresMigrations(database);
  };

  it('works for an owner that is no superuser, says what is due and what it did, and does nothing twice', async () => {
    const { address } = await newDatabase();
    const names = await allNames();
    assert.deepEqual(await due(address), names);
    assert.deepEqual(await due(address), names, 'asking changes nothing');
    assert.deepEqual(await migrate(address), names);
    assert.deepEqual(await due(address), []);
    assert.deepEqual(await migrate(address), []);
    await using service = openDatabase(address, { role: SERVICE_ROLE });
    await requireServiceRole(service);
    assert.deepEqual(await service.one(currentRole), { role: SERVICE_ROLE });
    const own = await service.connect();
    assert.deepEqual(
      (await own.query(currentRole.text)).rows,
      [{ role: SERVICE_ROLE }],
      'on a connection of its own',
    );
    await own.end();
  });

  it('applies a file again when its text changes, with the rights it has then, and nothing else', async () => {
    const { address } = await newDatabase();
    await migrate(address);
    const schema = await readSchema();
    const changed = (path: string, text: string) =>
      schema.files.map((file) =>
        file.path === path ? { ...file, sql: `${file.sql}${text}`, checksum: text } : file,
      );
    const grants = 'GRANT UPDATE ON deposits TO gatehouse_service;';
    assert.deepEqual(await migrate(address, { ...schema, files: changed('grants.sql', grants) }), [
      'grants.sql',
    ]);
    await using service = openDatabase(address, { poolSize: 1, role: SERVICE_ROLE });
    await assert.rejects(requireServiceRole(service), { message: /may change deposits;/ });
    await assert.rejects(requireSchema(service), { message: /grants\.sql differ from this version's/ });
    assert.deepEqual(await due(address), ['grants.sql']);
    assert.deepEqual(await migrate(address), ['grants.sql'], 'this version restores its own text');
    await requireServiceRole(service);
    await requireSchema(service);
    // The one file whose function belongs to the other role.
    const purge = 'functions/purge_activity.sql';
    assert.deepEqual(await migrate(address, { ...schema, files: changed(purge, '-- changed') }), [purge]);
    await requireServiceRole(service);
  });

  it('says that the database cannot be used when it is lost between two steps, and goes on from there', async () => {
    const { address } = await newDatabase();
    const schema = await readSchema();
    const steps = schema.steps.map((step, index) =>
      index === 5 ? { ...step, sql: 'SELECT pg_terminate_backend(pg_backend_pid())' } : step,
    );
    await assert.rejects(migrate(address, { ...schema, steps }), DatabaseUnavailable);
    const names = await allNames();
    assert.deepEqual(await migrate(address), names.slice(5));
  });

  it('changes no file when one of them fails', async () => {
    const { address } = await newDatabase();
    await migrate(address);
    const schema = await readSchema();
    const files = schema.files.map((file) => ({
      ...file,
      sql: file.path === 'grants.sql' ? 'SELECT 1 / 0' : file.sql,
      checksum: 'changed',
    }));
    await assert.rejects(migrate(address, { ...schema, files }), /division by zero/);
    assert.deepEqual(await due(address), []);
  });

  it('names what an administrator has to run when the owner may not take on the roles', async () => {
    const { owner, address } = await newDatabase(false);
    await assert.rejects(migrate(address), {
      name: 'MigrationError',
      message: new RegExp(`GRANT gatehouse_service, gatehouse_retention TO ${owner};$`),
    });
  });

  it('needs no right to the schema when nothing is due, and says so when something is', async () => {
    const { address } = await newDatabase();
    const login = unique('login');
    await admin(`CREATE ROLE ${login} LOGIN`, `GRANT gatehouse_service TO ${login}`);
    made.push(`DROP ROLE ${login}`);
    const asLogin = { ...address, user: login };
    await assert.rejects(migrate(asLogin), { name: 'MigrationError', message: /DATABASE_OWNER_URL/ });
    await migrate(address);
    assert.deepEqual(await migrate(asLogin), []);
    assert.deepEqual(await due(asLogin), []);
    await using service = openDatabase(asLogin, { role: SERVICE_ROLE });
    await requireServiceRole(service);
  });

  it('refuses a server that is older than those the tests run on', () => {
    for (const [version, number] of [
      ['15.0', 150_000],
      ['18.4 (Debian 18.4-1)', 180_004],
    ] as const)
      requireSupported({ version, number });
    for (const [version, number] of [
      ['14.23', 140_023],
      ['9.6.24', 90_624],
    ] as const)
      assert.throws(() => requireSupported({ version, number }), {
        name: 'MigrationError',
        message: `this server is PostgreSQL ${version}, and Gatehouse needs 15 or newer: upgrade the server, or name another one in DATABASE_URL`,
      });
  });

  it('refuses a schema that is behind, ahead or changed, and names the step', async () => {
    const { address } = await newDatabase();
    await using database = openDatabase(address, { poolSize: 1 });
    await assert.rejects(requireSchema(database), { message: /is at step 0 / });
    await migrate(address, await readSchemaAt(3));
    await assert.rejects(requireSchema(database), { message: /is at step 3 / });
    await migrate(address);
    await requireSchema(database);
    // Step 19 works with versions from step 18 on.
    await assert.rejects(migrate(address, await readSchemaAt(17)), { message: /newer Gatehouse/ });
    await run(address, `UPDATE schema_migrations SET checksum = 'x' WHERE number = 2`);
    for (const attempt of [() => migrate(address), () => due(address), () => requireSchema(database)])
      await assert.rejects(attempt(), { name: 'MigrationError', message: /step 2 \(activity\)/ });
  });

  it('lets a version before start on a schema that says so, and changes nothing then', async () => {
    const { address } = await newDatabase();
    const schema = await readSchema();
    const next = (worksWithStep: number, number = schema.steps.length + 1) => ({
      number,
      name: 'next',
      sql: 'SELECT',
      checksum: 'next',
      worksWithStep,
    });
    const files = schema.files.map((file) => ({ ...file, checksum: 'of the next version' }));
    const own = schema.steps.length;
    await migrate(address, { steps: [...schema.steps, next(own)], files });
    const newer: number[] = [];
    await using database = openDatabase(address, { poolSize: 1 });
    const start = () =>
      migratePostgres(database, { serviceMayLogIn: false, onNewerSchema: (step) => newer.push(step) });
    assert.deepEqual(await start(), []);
    assert.deepEqual(newer, [own + 1]);
    assert.deepEqual(await due(address), []);
    await requireSchema(database);
    // The functions are still those of the next version.
    assert.deepEqual(await migrate(address, { steps: [...schema.steps, next(own)], files }), []);
    // One step more that this version cannot live with.
    await migrate(address, { steps: [...schema.steps, next(own), next(own + 1, own + 2)], files });
    await assert.rejects(start(), { name: 'MigrationError', message: /this version cannot use/ });
  });

  it('lets several nodes start at once', async () => {
    const { address } = await newDatabase();
    const applied = await Promise.all(Array.from({ length: 4 }, () => migrate(address)));
    assert.deepEqual(applied.flat(), await allNames());
  });

  it('keeps its own session settings, whatever the address says', async () => {
    const { address } = await newDatabase();
    const { host, port, database, user } = address;
    const options = '-c search_path=public -c timezone=Asia/Karachi -c statement_timeout=0';
    const url = `postgresql:///${database}?host=${encodeURIComponent(host)}&port=${port}&user=${user}&options=${encodeURIComponent(options)}`;
    await migrate({ url });
    await using service = openDatabase({ url }, { role: SERVICE_ROLE });
    await requireServiceRole(service);
    const settings = statement<NoParameters, Record<'role' | 'timezone' | 'path' | 'timeout', string>>(
      'test-settings',
      sql`SELECT current_user AS role, current_setting('timezone') AS timezone, current_setting('search_path') AS path,
                 current_setting('statement_timeout') AS timeout`,
    );
    assert.deepEqual(await service.one(settings), {
      role: SERVICE_ROLE,
      timezone: 'UTC',
      path: 'public',
      timeout: '5s',
    });
  });

  it('chains the log entries that were written before step 6', async () => {
    await using old = await createDatabaseAtStep(5);
    await old.query(
      `WITH o AS (INSERT INTO organizations (name, name_key) SELECT n, n FROM unnest('{a,b}'::text[]) n RETURNING id),
            h AS (INSERT INTO activity_heads (organization_id, last_sequence) SELECT id, 3 FROM o)
       INSERT INTO activity_events (organization_id, sequence, actor_user_id, action, target, source_ip)
       SELECT o.id, n, CASE WHEN n = 2 THEN gen_random_uuid() END, 'org.renamed', 'é' || n, '::1'
       FROM o, generate_series(1, 3) n`,
    );
    await migratePostgres(old.owner, { serviceMayLogIn: true });
    const rows = await old.query(
      `WITH linked AS (
         SELECT e.*, lag(hash, 1, decode(repeat('00', 32), 'hex'))
           OVER (PARTITION BY organization_id ORDER BY sequence) AS previous FROM activity_events e
       )
       SELECT (SELECT count(*)::integer FROM linked WHERE hash = activity_entry_hash(previous, organization_id, sequence,
                 actor_user_id, action, target, source_ip, occurred_at)) AS chained,
              (SELECT count(*)::integer FROM activity_heads h JOIN activity_events e USING (organization_id)
               WHERE e.sequence = 3 AND e.hash = h.last_hash AND e.occurred_at = h.last_occurred_at) AS heads`,
    );
    assert.deepEqual(rows, [{ chained: 6, heads: 2 }]);
    await assert.rejects(old.query(`UPDATE activity_events SET target = ''`), /append-only/);
  });

  it('refuses to serve with a role that has more rights than Gatehouse grants', async () => {
    const { address } = await newDatabase();
    await migrate(address);
    await using asOwner = openDatabase(address, { poolSize: 1 });
    await assert.rejects(requireServiceRole(asOwner), { message: /may change activity_events;/ });
    await using service = openDatabase(address, { poolSize: 1, role: SERVICE_ROLE });
    const asSuperuser = { ...address, user: test.address.user };
    for (const right of [
      'UPDATE (last_sequence) ON activity_heads',
      'UPDATE (target) ON activity_events',
      'INSERT ON activity_checkpoints',
      'UPDATE ON deposits',
      'DELETE ON settlements',
      'UPDATE (activity_retention_days) ON organizations',
      'CREATE ON SCHEMA public',
      'UPDATE ON activity_events',
      'DELETE ON activity_events',
      'TRUNCATE ON activity_events',
    ]) {
      await run(asSuperuser, `GRANT ${right} TO ${SERVICE_ROLE}`);
      await assert.rejects(requireServiceRole(service), { name: 'MigrationError' }, right);
      await run(asSuperuser, `REVOKE ${right} FROM ${SERVICE_ROLE}`);
    }
    await requireServiceRole(service);
    const login = unique('login');
    await admin(`CREATE ROLE ${login} LOGIN`);
    made.push(`DROP ROLE ${login}`);
    await using stranger = openDatabase({ ...address, user: login }, { poolSize: 1, role: SERVICE_ROLE });
    await assert.rejects(requireServiceRole(stranger), {
      name: 'MigrationError',
      message: /GRANT gatehouse_service/,
    });
  });
});
