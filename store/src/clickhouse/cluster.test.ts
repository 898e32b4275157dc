import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { useTestEngine } from '@gatehouse/embedded/testing';
import { type Forwarding, startHttpForwarder } from '../testing/http-forwarder.ts';
import { rowsOf } from '../testing/rows-of.ts';
import { CLUSTER_SCHEMA_SETTINGS, createOnCluster, onCluster } from './cluster.ts';
import {
  createTablesOnCluster,
  dueTelemetryMigrations,
  migrateTelemetry,
  readTelemetryMigrations,
} from './migrate.ts';
import { parseSql } from './sql-statement.ts';

// No cluster can be had here. The statements are parsed by the engine, their settings looked up in it, and a migration is
// run through a server that takes out what only a cluster can do.

const telemetry = await useTestEngine();
const statements = readTelemetryMigrations().flatMap(({ sql }) =>
  parseSql(sql.replaceAll('{database}', '`telemetry`')),
);
const forms = statements.map((statement) => onCluster(statement, 'main'));

const CLUSTER_ROW = (shards: number) => `${JSON.stringify({ name: 'main', shards })}\n`;
const ON_CLUSTER = / ON CLUSTER `main`/;
const REPLICATED = /Replicated((?:Aggregating)?MergeTree)\('[^']+', '\{replica\}'\)/;

/** As a cluster with one node: the engine runs each statement without what it cannot do. */
function asCluster({ text }: { readonly text: string }): Forwarding {
  if (text.includes('system.clusters')) return { body: CLUSTER_ROW(1) };
  if (text.includes('getMacro') || text.startsWith('SYSTEM SYNC REPLICA')) return { body: '' };
  return {
    text: text
      .replace(ON_CLUSTER, '')
      .replace(REPLICATED, '$1')
      .replace('name, engine FROM', `name, concat('Replicated', engine) AS engine FROM`),
  };
}

describe('the schema on a cluster', () => {
  test('every statement of the migrations has a form that the engine can parse', async () => {
    for (const [index, form] of forms.entries()) {
      const { verb } = statements[index] ?? {};
      assert.equal(ON_CLUSTER.test(form), verb !== 'INSERT', form);
      await telemetry.client.command({ query: `EXPLAIN AST ${form}` });
    }
  });

  test('every table is replicated under a path of its own, the same on each node', () => {
    const tables = forms.filter((form) => form.startsWith('CREATE TABLE'));
    assert.equal(tables.length, 3);
    const paths = tables.map((form) => /ENGINE = Replicated\w+\('([^']+)', '\{replica\}'\)/.exec(form)?.[1]);
    assert.deepEqual(paths, [
      '/clickhouse/tables/main/telemetry/request_log',
      '/clickhouse/tables/main/telemetry/key_usage',
      '/clickhouse/tables/main/telemetry/key_last_used',
    ]);
    for (const form of forms) assert.doesNotMatch(form, /ENGINE = (Aggregating)?MergeTree|non_replicated/);
  });

  test('every setting that is sent exists', async () => {
    const names = forms.flatMap((form) =>
      [...form.matchAll(/\b(replicated_deduplication_window\w*) = \d/g)].map(([, name]) => name),
    );
    const known = await rowsOf(telemetry.client, `SELECT name FROM system.merge_tree_settings`);
    const knownToSession = await rowsOf(telemetry.client, `SELECT name FROM system.settings`);
    const has = (rows: unknown[], name: unknown) =>
      rows.some((row) => (row as { name: string }).name === name);
    assert.ok(names.length > 0);
    for (const name of names) assert.ok(has(known, name), name);
    const sent = ['insert_quorum', 'insert_quorum_parallel', 'insert_quorum_timeout'];
    for (const name of [...Object.keys(CLUSTER_SCHEMA_SETTINGS), ...sent])
      assert.ok(has(knownToSession, name), name);
  });

  test('a statement of another form is an error', () => {
    for (const sql of [
      'OPTIMIZE TABLE `t`.a',
      'CREATE TABLE `t`.a (x Int8) ENGINE = MergeTree ORDER BY x',
      'CREATE TABLE IF NOT EXISTS `t`.a (x Int8) ENGINE = Log',
      'RENAME TABLE `t`.a TO `t`.b',
    ]) {
      const [statement] = parseSql(sql);
      assert.ok(statement);
      assert.throws(() => onCluster(statement, 'main'), /has no (form|engine) for a cluster/, sql);
    }
  });
});

describe('the grants of docs/telemetry-store.md', () => {
  const document = readFileSync(join(import.meta.dirname, '../../../docs/telemetry-store.md'), 'utf8');
  const grants = [...document.matchAll(/^GRANT .+;$/gm)].map(([grant]) => grant.slice(0, -1));

  test('are valid for their level, and stop only at the missing user', async () => {
    assert.equal(grants.length, 9);
    for (const query of grants)
      await assert.rejects(telemetry.client.command({ query }), { type: 'UNKNOWN_ROLE' }, query);
    // The engine rejects what cannot be granted so.
    const query = 'GRANT CLUSTER ON telemetry.* TO gatehouse';
    await assert.rejects(telemetry.client.command({ query }), { type: 'INVALID_GRANT' });
  });

  test('give the owner the right to each statement of the migrations', () => {
    const rights = grants.filter((grant) => grant.endsWith('TO gatehouse_owner')).join();
    for (const { verb, sql } of statements) {
      const right =
        verb === 'INSERT'
          ? verb
          : /^(CREATE|DROP|ALTER) (?:MATERIALIZED )?(\w+)/.exec(sql)?.slice(1).join(' ');
      assert.ok(right !== undefined && new RegExp(`[ ,]${right}(,| ON )`).test(rights), sql);
    }
  });
});

describe('migrateTelemetry on a cluster', () => {
  const newName = () => `c_${randomUUID().replaceAll('-', '')}`;
  const isChange = ({ text }: { readonly text: string }) => /^(CREATE|ALTER|DROP|SYSTEM|INSERT)/.test(text);

  test('sends every change to all nodes, and nothing once the schema is there', async () => {
    await using server = await startHttpForwarder(telemetry.engine.socketPath, asCluster);
    const name = newName();
    const target = { url: `${server.url}/${name}`, cluster: 'main' };
    const versions = readTelemetryMigrations().map(({ version }) => version);
    assert.deepEqual(await migrateTelemetry(target), versions);
    const changes = server.queries.filter(isChange);
    assert.match(changes[0]?.text ?? '', /^CREATE DATABASE IF NOT EXISTS `\w+` ON CLUSTER `main`/);
    for (const { text, parameters } of changes) {
      if (/^(INSERT|SYSTEM SYNC REPLICA)/.test(text)) continue;
      assert.match(text, ON_CLUSTER);
      assert.equal(parameters.get('distributed_ddl_output_mode'), 'null_status_on_timeout', text);
    }
    server.queries.length = 0;
    assert.deepEqual(await migrateTelemetry(target), []);
    assert.deepEqual(await dueTelemetryMigrations(target), []);
    assert.deepEqual(server.queries.filter(isChange), []);
  });

  test('creates the tables on nodes that lack them', async () => {
    await using server = await startHttpForwarder(telemetry.engine.socketPath, asCluster);
    const name = newName();
    const target = { url: `${server.url}/${name}`, cluster: 'main' };
    await migrateTelemetry(target);
    server.queries.length = 0;
    await createTablesOnCluster(target);
    const created = server.queries.flatMap(({ text }) =>
      [...text.matchAll(/^CREATE (?:TABLE|MATERIALIZED VIEW) IF NOT EXISTS (\S+) ON CLUSTER/g)].map(
        ([, table]) => table?.replaceAll('`', ''),
      ),
    );
    assert.deepEqual(created, [
      `${name}.schema_migrations`,
      ...['key_last_used', 'request_log', 'schema_migrations', 'key_last_used_from_request_log'].map(
        (table) => `${name}.${table}`,
      ),
    ]);
    assert.throws(() => createOnCluster('CREATE DICTIONARY x', 'main'), /not a table or a view/);
  });

  test('refuses a cluster that the server does not know, one of several shards, and a server without a name', async () => {
    const unknown = { url: '', cluster: 'other' };
    const refused = async (
      answer: (text: string) => Forwarding | undefined,
      expected: RegExp,
      cluster = 'main',
    ) => {
      await using server = await startHttpForwarder(
        telemetry.engine.socketPath,
        (query) => answer(query.text) ?? asCluster(query),
      );
      const target = { ...unknown, url: `${server.url}/${newName()}`, cluster };
      await assert.rejects(migrateTelemetry(target), { name: 'MigrationError', message: expected });
      assert.deepEqual(server.queries.filter(isChange), []);
    };
    await refused(
      () => undefined,
      /"other", which the ClickHouse server does not know; it knows: main\./,
      'other',
    );
    await refused(
      (text) => (text.includes('system.clusters') ? { body: CLUSTER_ROW(2) } : undefined),
      /"main" has 2 shards/,
    );
    // The engine's own answer: it has no macros.
    await refused((text) => (text.includes('getMacro') ? { text } : undefined), /no macro "replica"/);
  });

  test('refuses tables of the other kind, and a node that lacks tables', async () => {
    const name = newName();
    await migrateTelemetry(telemetry.engine, { database: name });
    await using plain = await startHttpForwarder(telemetry.engine.socketPath, ({ text }) => ({ text }));
    await using replicated = await startHttpForwarder(telemetry.engine.socketPath, asCluster);
    const message = (expected: RegExp) => ({ name: 'MigrationError', message: expected });
    await assert.rejects(
      migrateTelemetry({ url: `${plain.url}/${name}`, cluster: 'main' }),
      message(/are on one server only \(MergeTree\)/),
    );
    await assert.rejects(
      migrateTelemetry({ url: `${replicated.url}/${name}` }),
      message(/CLICKHOUSE_CLUSTER is not set/),
    );
    await telemetry.client.command({ query: `DROP TABLE ${name}.request_log SYNC` });
    await assert.rejects(
      migrateTelemetry({ url: `${replicated.url}/${name}`, cluster: 'main' }),
      message(/was added later\. Run `gatehouse migrate`/),
    );
  });
});
