import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { useTestEngine } from '@gatehouse/embedded/testing';
import { MigrationError } from '../migration-error.ts';
import { rowsOf } from '../testing/rows-of.ts';
import {
  dueTelemetryMigrations,
  migrateTelemetry,
  readTelemetryMigrations,
  type TelemetryMigration,
} from './migrate.ts';

const FIRST: TelemetryMigration = {
  version: 1,
  name: 'first',
  sql: `-- a comment; with a semicolon
    CREATE TABLE IF NOT EXISTS {database}.a (x String DEFAULT ';') ENGINE = MergeTree ORDER BY x;
    CREATE TABLE IF NOT EXISTS {database}.b (x String) ENGINE = MergeTree ORDER BY x;`,
};
const SECOND: TelemetryMigration = {
  version: 2,
  name: 'second',
  sql: 'ALTER TABLE {database}.a ADD COLUMN IF NOT EXISTS y UInt8',
};

const telemetry = await useTestEngine();
const { engine } = telemetry;

describe('migrateTelemetry', () => {
  const newName = () => `m_${randomUUID().replaceAll('-', '')}`;
  const recorded = (database: string) =>
    rowsOf(
      telemetry.client,
      `SELECT DISTINCT version, name FROM ${database}.schema_migrations ORDER BY version`,
    );

  test('creates an Atomic database and applies what is missing, once', async () => {
    const database = newName();
    assert.deepEqual(await migrateTelemetry(engine, { database, migrations: [FIRST] }), [1]);
    assert.deepEqual(await migrateTelemetry(engine, { database, migrations: [FIRST, SECOND] }), [2]);
    assert.deepEqual(await migrateTelemetry(engine, { database, migrations: [FIRST, SECOND] }), []);
    assert.deepEqual(await recorded(database), [
      { version: 1, name: 'first' },
      { version: 2, name: 'second' },
    ]);
    const engines = await rowsOf(
      telemetry.client,
      'SELECT engine FROM system.databases WHERE name = {database:String}',
      {
        database,
      },
    );
    assert.deepEqual(engines, [{ engine: 'Atomic' }]);
  });

  test('finishes what was stopped between two statements', async () => {
    const database = newName();
    const half = { ...FIRST, sql: FIRST.sql.replace('{database}.b (x String)', '{database}.b (x Strin)') };
    await assert.rejects(migrateTelemetry(engine, { database, migrations: [half] }), { code: '50' });
    assert.deepEqual(await recorded(database), []);
    assert.deepEqual(await migrateTelemetry(engine, { database, migrations: [FIRST] }), [1]);
  });

  test('says what is due and creates nothing', async () => {
    const database = newName();
    const due = async (migrations: TelemetryMigration[]) =>
      (await dueTelemetryMigrations(engine, { database, migrations })).map(({ name }) => name);
    assert.deepEqual(await due([FIRST]), ['first']);
    const query = `SELECT count() AS databases FROM system.databases WHERE name = '${database}'`;
    assert.deepEqual(await rowsOf(telemetry.client, query), [{ databases: '0' }]);
    await migrateTelemetry(engine, { database, migrations: [FIRST] });
    assert.deepEqual(await due([FIRST, SECOND]), ['second']);
    assert.deepEqual(await due([FIRST]), []);
    await assert.rejects(due([{ ...FIRST, sql: `${FIRST.sql} ` }]), MigrationError);
  });

  test('may run in several processes at once', async () => {
    const database = newName();
    const runs = Array.from({ length: 8 }, () => migrateTelemetry(engine, { database }));
    for (const applied of await Promise.all(runs))
      assert.ok(applied.length <= readTelemetryMigrations().length);
    assert.equal((await recorded(database)).length, readTelemetryMigrations().length);
    assert.deepEqual(await migrateTelemetry(engine, { database }), []);
  });

  test('fails on a migration that was changed after it was applied', async () => {
    const database = newName();
    await migrateTelemetry(engine, { database, migrations: [FIRST] });
    const changed = { ...FIRST, sql: `${FIRST.sql} ` };
    await assert.rejects(
      migrateTelemetry(engine, { database, migrations: [changed, SECOND] }),
      (error: Error) => {
        assert.ok(error instanceof MigrationError);
        assert.match(
          error.message,
          /^Migration 1 \(first\) of the telemetry store was applied with another content/,
        );
        return true;
      },
    );
    assert.equal((await recorded(database)).length, 1);
  });

  test('fails on a store that a newer release has migrated', async () => {
    const database = newName();
    await migrateTelemetry(engine, { database, migrations: [FIRST, SECOND] });
    await assert.rejects(migrateTelemetry(engine, { database, migrations: [FIRST] }), {
      message: /^The telemetry store is at version 2 \(second\) and this release knows only 1: /,
    });
  });

  test('fails on a database name that is not plain', async () => {
    await assert.rejects(migrateTelemetry(engine, { database: 'a`; DROP DATABASE b' }), RangeError);
  });
});

test('the shipped migrations are numbered and every statement can be run again', () => {
  const migrations = readTelemetryMigrations();
  assert.ok(migrations.length > 0);
  for (const { sql } of migrations)
    assert.doesNotMatch(sql, /(CREATE|ADD|DROP) \w+( \w+)? (?!IF )\{database\}/);
});
