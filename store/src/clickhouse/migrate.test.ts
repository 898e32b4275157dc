import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
const THIRD: TelemetryMigration = {
  version: 3,
  name: 'third',
  sql: 'ALTER TABLE {database}.a ADD COLUMN IF NOT EXISTS z UInt8',
  worksWith: 2,
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

  test('lets a release before start on tables that say so, and changes nothing then', async () => {
    const database = newName();
    const own = [FIRST];
    const next = [FIRST, { ...SECOND, worksWith: 1 }];
    await migrateTelemetry(engine, { database, migrations: next });
    const newer: number[] = [];
    const onNewerSchema = (version: number) => newer.push(version);
    assert.deepEqual(await migrateTelemetry(engine, { database, migrations: own, onNewerSchema }), []);
    assert.deepEqual(newer, [2]);
    assert.deepEqual(await dueTelemetryMigrations(engine, { database, migrations: own }), []);
    assert.deepEqual(await recorded(database), [
      { version: 1, name: 'first' },
      { version: 2, name: 'second' },
    ]);
    assert.deepEqual(await migrateTelemetry(engine, { database, migrations: next, onNewerSchema }), []);
    assert.deepEqual(newer, [2]);
    // One more, with which only releases from the second migration on can live.
    await migrateTelemetry(engine, { database, migrations: [...next, THIRD] });
    await assert.rejects(migrateTelemetry(engine, { database, migrations: own, onNewerSchema }), {
      name: 'MigrationError',
      message: /^The telemetry store is at version 3 \(third\) and this release knows only 1: /,
    });
    assert.deepEqual(await migrateTelemetry(engine, { database, migrations: next, onNewerSchema }), []);
    assert.deepEqual(newer, [2, 3]);
  });

  test('takes the more careful word of two processes that recorded one migration', async () => {
    const database = newName();
    await migrateTelemetry(engine, { database, migrations: [FIRST, { ...SECOND, worksWith: 1 }] });
    await telemetry.client.command({
      query: `INSERT INTO ${database}.schema_migrations (version, name, checksum)
              SELECT version, name, checksum FROM ${database}.schema_migrations WHERE version = 2`,
    });
    await assert.rejects(migrateTelemetry(engine, { database, migrations: [FIRST] }), MigrationError);
  });

  test('reads the history of releases that stated nothing, and states it from then on', async () => {
    const database = newName();
    await migrateTelemetry(engine, { database, migrations: [FIRST, SECOND] });
    // As it was before.
    await telemetry.client.command({
      query: `ALTER TABLE ${database}.schema_migrations DROP COLUMN works_with`,
    });
    await assert.rejects(migrateTelemetry(engine, { database, migrations: [FIRST] }), MigrationError);
    assert.deepEqual(await migrateTelemetry(engine, { database, migrations: [FIRST, SECOND] }), []);
    const migrations = [FIRST, SECOND, THIRD];
    assert.deepEqual(await migrateTelemetry(engine, { database, migrations }), [3]);
    assert.deepEqual(await migrateTelemetry(engine, { database, migrations: [FIRST, SECOND] }), []);
    assert.deepEqual(
      await rowsOf(
        telemetry.client,
        `SELECT version, works_with FROM ${database}.schema_migrations ORDER BY version`,
      ),
      [
        { version: 1, works_with: 1 },
        { version: 2, works_with: 2 },
        { version: 3, works_with: 2 },
      ],
    );
  });

  test('fails on a database name that is not plain', async () => {
    await assert.rejects(migrateTelemetry(engine, { database: 'a`; DROP DATABASE b' }), RangeError);
  });
});

test('a migration states the releases that work with it by a line of its file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-migrations-'));
  try {
    await writeFile(join(folder, '0001-first.sql'), '-- works with version 7 of the moon\nSELECT 1');
    await writeFile(join(folder, '0002-second.sql'), '-- Adds a column.\n-- works with version 1\nSELECT 2');
    assert.deepEqual(
      readTelemetryMigrations(folder).map(({ version, worksWith }) => [version, worksWith]),
      [
        [1, undefined],
        [2, 1],
      ],
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('the shipped migrations are numbered and every statement can be run again', () => {
  const migrations = readTelemetryMigrations();
  assert.ok(migrations.length > 0);
  for (const { sql } of migrations)
    assert.doesNotMatch(sql, /(CREATE|ADD|DROP) \w+( \w+)? (?!IF )\{database\}/);
});
