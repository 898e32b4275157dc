import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../testing/index.ts';
import { openDatabase } from './database.ts';
import { migratePostgres, readMigrations, requireSchema } from './migrate.ts';
import { requireServiceRole, SERVICE_ROLE } from './roles.ts';
import { statement } from './statement.ts';

describe('migratePostgres', () => {
  let test: TestDatabase;
  const made: string[] = [];
  before(async () => {
    test = await createTestDatabase();
  });
  after(async () => {
    for (const drop of made.toReversed()) await admin(drop);
    await test[Symbol.asyncDispose]();
  });

  const admin = async (...commands: string[]) => {
    const client = await test.owner.connect();
    try {
      for (const command of commands) await client.query(command);
    } finally {
      await client.end();
    }
  };
  const unique = (lead: string) => `${lead}_${randomUUID().replaceAll('-', '')}`;
  /** An empty database, and whoever owns it: a login that is no superuser. */
  const newDatabase = async (ownerMay = '') => {
    const [database, owner] = [unique('test'), unique('login')];
    await admin(`CREATE ROLE ${owner} LOGIN ${ownerMay}`, `CREATE DATABASE ${database} OWNER ${owner}`);
    made.push(`DROP ROLE ${owner}`, `DROP DATABASE ${database} WITH (FORCE)`);
    const { host, port } = test.address;
    return { owner, address: { host, port, database, user: owner } };
  };
  const withRoles = (owner: string) => admin(`GRANT gatehouse_service, gatehouse_retention TO ${owner}`);
  const migrate = async (address: Parameters<typeof openDatabase>[0], steps?: number) => {
    await using database = openDatabase(address, { poolSize: 1 });
    const migrations = (await readMigrations()).slice(0, steps);
    return migratePostgres(database, { migrations, serviceMayLogIn: false });
  };

  it('works for an owner who is no superuser, and does nothing the second time', async () => {
    const { owner, address } = await newDatabase();
    await withRoles(owner);
    const steps = (await readMigrations()).map(({ name }) => name);
    assert.deepEqual(await migrate(address), steps);
    assert.deepEqual(await migrate(address), []);
    await using service = openDatabase(address, { role: SERVICE_ROLE });
    await requireServiceRole(service);
    const role = statement<{ role: string }>('test-role', 'SELECT current_user AS role');
    assert.deepEqual(await service.one(role), { role: SERVICE_ROLE });
    const own = await service.connect();
    assert.deepEqual(
      (await own.query(role.text)).rows,
      [{ role: SERVICE_ROLE }],
      'on a connection of its own',
    );
    await own.end();
  });

  it('tells an owner who may not take on the roles what an administrator has to run', async () => {
    const { owner, address } = await newDatabase();
    await assert.rejects(migrate(address), {
      name: 'MigrationError',
      message: new RegExp(`GRANT gatehouse_service, gatehouse_retention TO ${owner};$`),
    });
  });

  it('needs no right to the schema when there is nothing to change, and says so when there is', async () => {
    const { owner, address } = await newDatabase();
    await withRoles(owner);
    const guest = unique('login');
    await admin(`CREATE ROLE ${guest} LOGIN`, `GRANT gatehouse_service TO ${guest}`);
    made.push(`DROP ROLE ${guest}`);
    const asGuest = { ...address, user: guest };
    await assert.rejects(migrate(asGuest), { name: 'MigrationError', message: /DATABASE_OWNER_URL/ });
    await migrate(address);
    assert.deepEqual(await migrate(asGuest), []);
    await using service = openDatabase(asGuest, { role: SERVICE_ROLE });
    await requireServiceRole(service);
  });

  it('refuses a schema that is behind, ahead or changed, naming the step', async () => {
    const { owner, address } = await newDatabase();
    await withRoles(owner);
    await using database = openDatabase(address, { poolSize: 1 });
    await assert.rejects(requireSchema(database), { message: /is at step 0 / });
    await migrate(address, 3);
    await assert.rejects(requireSchema(database), { message: /is at step 3 / });
    await migrate(address);
    await requireSchema(database);
    const steps = await readMigrations();
    await assert.rejects(migrate(address, steps.length - 1), { message: /newer Gatehouse/ });
    await database.run(
      statement('test-change-step', `UPDATE schema_migrations SET checksum = 'x' WHERE number = 2`),
    );
    for (const attempt of [() => migrate(address), () => requireSchema(database)])
      await assert.rejects(attempt(), { name: 'MigrationError', message: /step 2 \(activity\)/ });
  });

  it('lets several nodes start at once', async () => {
    const { owner, address } = await newDatabase();
    await withRoles(owner);
    const applied = await Promise.all(Array.from({ length: 4 }, () => migrate(address)));
    assert.equal(applied.flat().length, (await readMigrations()).length);
  });

  it('keeps to its own settings of a session whatever the address brings along', async () => {
    const { owner, address } = await newDatabase();
    await withRoles(owner);
    const { host, port, database, user } = address;
    const url = `postgresql:///${database}?host=${encodeURIComponent(host)}&port=${port}&user=${user}&options=${encodeURIComponent('-c search_path=public -c timezone=Asia/Karachi -c statement_timeout=0')}`;
    await migrate({ url });
    await using service = openDatabase({ url }, { role: SERVICE_ROLE });
    await requireServiceRole(service);
    const settings = statement(
      'test-settings',
      `SELECT current_user AS role, current_setting('timezone') AS timezone, current_setting('search_path') AS path,
              current_setting('statement_timeout') AS timeout`,
    );
    assert.deepEqual(await service.one(settings), {
      role: SERVICE_ROLE,
      timezone: 'UTC',
      path: 'public',
      timeout: '5s',
    });
  });

  it('chains the entries that were written before there was a chain', async () => {
    const { owner, address } = await newDatabase();
    await withRoles(owner);
    await migrate(address, 5);
    await using database = openDatabase(address, { poolSize: 1 });
    await database.run(
      statement(
        'test-old-entries',
        `WITH o AS (INSERT INTO organizations (name, name_key) SELECT n, n FROM unnest('{a,b}'::text[]) n RETURNING id),
              h AS (INSERT INTO activity_heads (organization_id, last_sequence) SELECT id, 3 FROM o)
         INSERT INTO activity_events (organization_id, sequence, actor_user_id, action, target, source_ip)
         SELECT o.id, n, CASE WHEN n = 2 THEN gen_random_uuid() END, 'org.renamed', 'é' || n, '::1'
         FROM o, generate_series(1, 3) n`,
      ),
    );
    await migrate(address);
    const [row] = await database.many(
      statement<{ chained: bigint; heads: bigint }>(
        'test-chained',
        `WITH linked AS (
           SELECT e.*, lag(hash, 1, decode(repeat('00', 32), 'hex'))
             OVER (PARTITION BY organization_id ORDER BY sequence) AS previous FROM activity_events e
         )
         SELECT (SELECT count(*) FROM linked WHERE hash = activity_entry_hash(previous, organization_id, sequence,
                   actor_user_id, action, target, source_ip, occurred_at)) AS chained,
                (SELECT count(*) FROM activity_heads h JOIN activity_events e USING (organization_id)
                 WHERE e.sequence = 3 AND e.hash = h.last_hash AND e.occurred_at = h.last_occurred_at) AS heads`,
      ),
    );
    assert.deepEqual(row, { chained: 6n, heads: 2n });
    const change = statement('test-change-entry', `UPDATE activity_events SET target = ''`);
    await assert.rejects(database.run(change), /append-only/);
  });

  it('refuses to serve with a role that was given more than Gatehouse gives it', async () => {
    const { owner, address } = await newDatabase();
    await withRoles(owner);
    await migrate(address);
    await using asOwner = openDatabase(address, { poolSize: 1 });
    await assert.rejects(requireServiceRole(asOwner), { message: /may change activity_events;/ });
    await using service = openDatabase(address, { poolSize: 1, role: SERVICE_ROLE });
    const superuser = async (command: string) => {
      const admin = openDatabase({ ...address, user: test.address.user }, { poolSize: 1 });
      await admin.run(statement(`test ${command}`.slice(0, 60), command));
      await admin[Symbol.asyncDispose]();
    };
    for (const [excess, undo] of [
      [
        'GRANT UPDATE (last_sequence) ON activity_heads TO ROLE',
        'REVOKE UPDATE (last_sequence) ON activity_heads FROM ROLE',
      ],
      [
        'GRANT UPDATE (target) ON activity_events TO ROLE',
        'REVOKE UPDATE (target) ON activity_events FROM ROLE',
      ],
      ['GRANT INSERT ON activity_checkpoints TO ROLE', 'REVOKE INSERT ON activity_checkpoints FROM ROLE'],
      ['GRANT UPDATE ON deposits TO ROLE', 'REVOKE UPDATE ON deposits FROM ROLE'],
      ['GRANT DELETE ON settlements TO ROLE', 'REVOKE DELETE ON settlements FROM ROLE'],
      [
        'GRANT UPDATE (activity_retention_days) ON organizations TO ROLE',
        'REVOKE UPDATE (activity_retention_days) ON organizations FROM ROLE',
      ],
      ['GRANT CREATE ON SCHEMA public TO ROLE', 'REVOKE CREATE ON SCHEMA public FROM ROLE'],
    ]) {
      await superuser(String(excess).replace('ROLE', SERVICE_ROLE));
      await assert.rejects(requireServiceRole(service), { name: 'MigrationError' }, excess);
      await superuser(String(undo).replace('ROLE', SERVICE_ROLE));
    }
    await requireServiceRole(service);
    for (const right of ['UPDATE', 'DELETE', 'TRUNCATE']) {
      await asOwner.run(
        statement(`test-grant-${right}`, `GRANT ${right} ON activity_events TO ${SERVICE_ROLE}`),
      );
      await assert.rejects(requireServiceRole(service), { name: 'MigrationError' });
      await asOwner.run(
        statement(`test-revoke-${right}`, `REVOKE ${right} ON activity_events FROM ${SERVICE_ROLE}`),
      );
    }
    await requireServiceRole(service);
    const stranger = unique('login');
    await admin(`CREATE ROLE ${stranger} LOGIN`);
    made.push(`DROP ROLE ${stranger}`);
    await using strange = openDatabase({ ...address, user: stranger }, { poolSize: 1, role: SERVICE_ROLE });
    await assert.rejects(requireServiceRole(strange), {
      name: 'MigrationError',
      message: /GRANT gatehouse_service/,
    });
  });
});
