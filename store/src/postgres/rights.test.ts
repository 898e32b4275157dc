import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../testing/index.ts';
import { openDatabase } from './database.ts';
import { differingRights, duePostgresMigrations, migratePostgres } from './migrate.ts';
import { requireServiceRole } from './roles.ts';

describe('owners and rights', () => {
  let test: TestDatabase;
  let client: pg.Client;
  let other: string;
  before(async () => {
    test = await createTestDatabase();
    client = await test.owner.connect();
    other = `other_${test.address.database}`;
    await client.query(`CREATE ROLE ${other}`);
  });
  after(async () => {
    await client?.query(`DROP OWNED BY ${other}; DROP ROLE ${other}`);
    await client?.end();
    await test?.[Symbol.asyncDispose]();
  });

  const migrate = (repairsRights: boolean) =>
    migratePostgres(test.owner, { serviceMayLogIn: true, repairsRights });

  it('are those of the schema after a migration, and nothing is restored', async () => {
    assert.deepEqual(await differingRights(test.owner), []);
    assert.deepEqual(await migrate(true), []);
  });

  it('are named where they differ, by `migrate --check` too, and restored', async () => {
    const week = await client.query<{ name: string }>(
      `SELECT settlement_partition(settlement_week(clock_timestamp())) AS name`,
    );
    const partition = week.rows[0]?.name ?? assert.fail();
    const cases: [change: string, ...names: string[]][] = [
      [
        'ALTER FUNCTION purge_activity OWNER TO CURRENT_USER',
        `owner of function purge_activity: ${test.address.user}, not gatehouse_retention`,
      ],
      [
        `ALTER FUNCTION append_activity OWNER TO ${other}`,
        `owner of function append_activity: ${other}, not ${test.address.user}`,
      ],
      [
        `ALTER TABLE deposits OWNER TO ${other}`,
        `owner of table deposits: ${other}, not ${test.address.user}`,
      ],
      [
        `ALTER SEQUENCE vault_versions OWNER TO ${other}`,
        `owner of sequence vault_versions: ${other}, not ${test.address.user}`,
      ],
      [
        'ALTER FUNCTION purge_activity SECURITY INVOKER',
        'function purge_activity: SECURITY INVOKER, not SECURITY DEFINER',
      ],
      [
        'ALTER FUNCTION close_settlements SECURITY DEFINER',
        'function close_settlements: SECURITY DEFINER, not SECURITY INVOKER',
      ],
      ['DROP FUNCTION release_overdue_holds', 'function release_overdue_holds: missing'],
      [
        'GRANT EXECUTE ON FUNCTION purge_activity TO PUBLIC',
        'rights on function purge_activity: PUBLIC has EXECUTE',
      ],
      [
        'GRANT EXECUTE ON FUNCTION advance_settlement_fold TO gatehouse_service',
        'rights on function advance_settlement_fold: gatehouse_service has EXECUTE',
      ],
      [
        'REVOKE EXECUTE ON FUNCTION keep_settlements FROM gatehouse_service',
        'rights on function keep_settlements: gatehouse_service lacks EXECUTE',
      ],
      [
        'REVOKE EXECUTE ON FUNCTION settle_requests FROM PUBLIC',
        'rights on function settle_requests: PUBLIC lacks EXECUTE',
      ],
      [
        'GRANT UPDATE, DELETE ON activity_events TO gatehouse_service; REVOKE INSERT ON deposits FROM gatehouse_service',
        'rights on table activity_events: gatehouse_service has DELETE, UPDATE',
        'rights on table deposits: gatehouse_service lacks INSERT',
      ],
      [
        'GRANT UPDATE (activity_retention_days) ON organizations TO gatehouse_service',
        'rights on table organizations (activity_retention_days): gatehouse_service has UPDATE',
      ],
      [
        `GRANT DELETE ON ${partition} TO gatehouse_service`,
        `rights on table ${partition}: gatehouse_service has DELETE`,
      ],
      [`GRANT ALL ON users TO ${other}`, `rights on table users: ${other} has `],
      [
        'GRANT CREATE ON SCHEMA public TO gatehouse_service, PUBLIC',
        'rights on schema public: PUBLIC has CREATE',
        'rights on schema public: gatehouse_service has CREATE',
      ],
      [
        'ALTER TABLE activity_events DISABLE TRIGGER activity_events_append_only',
        'trigger activity_events_append_only of table activity_events: disabled',
      ],
    ];
    for (const [change, ...names] of cases) {
      await client.query(change);
      const found = await duePostgresMigrations(test.owner);
      assert.equal(found.length, names.length, `${change}: ${found.join('; ')}`);
      for (const [index, name] of names.entries()) assert.ok(found[index]?.startsWith(name), found[index]);
      assert.deepEqual(await differingRights(test.owner), found);
      assert.deepEqual(await migrate(false), [], 'a start changes no rights');
      assert.deepEqual(await migrate(true), found);
      assert.deepEqual(await duePostgresMigrations(test.owner), [], change);
    }
    await requireServiceRole(test.database);
  });

  it('may be given for reading, and on what is not of the schema', async () => {
    await client.query(
      `GRANT SELECT ON users TO ${other}; GRANT USAGE ON SCHEMA public TO ${other}; CREATE TABLE of_another_program (); GRANT ALL ON of_another_program TO PUBLIC`,
    );
    assert.deepEqual(await differingRights(test.owner), []);
  });

  it('are named where only a restore brings them back', async () => {
    await client.query('DROP TRIGGER activity_events_no_truncate ON activity_events');
    const name = 'trigger activity_events_no_truncate of table activity_events: missing';
    assert.deepEqual(await differingRights(test.owner), [name]);
    await assert.rejects(migrate(true), {
      name: 'MigrationError',
      message: `owners or rights in the database differ from this version's schema and cannot be repaired: ${name}; correct it by hand, or restore the database again`,
    });
  });

  it('are those of the schema for an owner to whom an administrator gave the schema', async () => {
    const { host, port, database } = test.address;
    const [login, name] = [`Login ${database}`, `${database}_given`];
    await client.query(`CREATE ROLE "${login}" LOGIN`);
    await client.query(`GRANT gatehouse_service, gatehouse_retention TO "${login}"`);
    await client.query(`CREATE DATABASE ${name}`);
    try {
      await using administrator = openDatabase({ ...test.address, database: name }, { poolSize: 1 });
      const own = await administrator.connect();
      await own.query(`GRANT ALL ON SCHEMA public TO "${login}" WITH GRANT OPTION`);
      await own.end();
      await using owner = openDatabase({ host, port, user: login, database: name }, { poolSize: 1 });
      const options = { serviceMayLogIn: false, repairsRights: true };
      await migratePostgres(owner, options);
      assert.deepEqual(await duePostgresMigrations(owner), []);
      assert.deepEqual(await migratePostgres(owner, options), []);
    } finally {
      await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
      await client.query(`DROP ROLE "${login}"`);
    }
  });

  it('are restored by an owner that is no superuser, who else gets the statements for an administrator', async () => {
    const { host, port, database } = test.address;
    const [login, name] = [`login_${database}`, `${database}_own`];
    for (const statement of [
      `CREATE ROLE ${login} LOGIN`,
      `GRANT gatehouse_service, gatehouse_retention TO ${login}`,
      `CREATE DATABASE ${name} OWNER ${login}`,
    ])
      await client.query(statement);
    try {
      await using owner = openDatabase({ host, port, user: login, database: name }, { poolSize: 1 });
      await using administrator = openDatabase({ ...test.address, database: name }, { poolSize: 1 });
      const options = { serviceMayLogIn: false, repairsRights: true };
      await migratePostgres(owner, options);
      const change = async (statement: string) => {
        const own = await administrator.connect();
        await own.query(statement);
        await own.end();
      };
      await change(`ALTER FUNCTION purge_activity OWNER TO ${login}`);
      assert.deepEqual(await migratePostgres(owner, options), [
        `owner of function purge_activity: ${login}, not gatehouse_retention`,
      ]);
      assert.deepEqual(await differingRights(owner), []);
      await change(`ALTER FUNCTION append_activity OWNER TO ${other}`);
      await assert.rejects(migratePostgres(owner, options), (error: Error) => {
        assert.equal(error.name, 'MigrationError');
        assert.match(
          error.message,
          /cannot be repaired \(must be owner of function append_activity\): owner of /,
        );
        assert.ok(
          error.message.includes(`ALTER FUNCTION append_activity OWNER TO "${login}";`),
          error.message,
        );
        return true;
      });
      // A restore by a superuser that made everything its own.
      await change(`REASSIGN OWNED BY ${login} TO CURRENT_USER`);
      const found = await differingRights(owner);
      assert.ok(found.length > 50 && found.every((one) => one.startsWith('owner of ')), found.join('; '));
      assert.ok(found.includes(`owner of table api_keys: ${test.address.user}, not ${login}`));
    } finally {
      await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
      await client.query(`DROP ROLE ${login}`);
    }
  });
});
