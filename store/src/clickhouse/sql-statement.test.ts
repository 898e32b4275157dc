import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseSql, sqlName, sqlString } from './sql-statement.ts';

describe('parseSql', () => {
  test('cuts at semicolons, and not at those in quotes, comments and heredocs', () => {
    const text =
      "SELECT 'a;b', \"c;d\", `e;f`, 'g\\';h' -- i;j\n; SELECT $x$k;l$x$, ‘m;n’ /* o; /* p; */ ; */;;";
    assert.deepEqual(
      parseSql(text).map(({ sql }) => sql),
      ["SELECT 'a;b', \"c;d\", `e;f`, 'g\\';h'", 'SELECT $x$k;l$x$, ‘m;n’'],
    );
  });

  test('drops comments, in which the embedded engine looks for orders', () => {
    const text = 'SELECT 1 -- { serverError 60 }\n, 2 /* { echo } */ # { x }\n, 3 // { y }';
    assert.equal(parseSql(text)[0]?.sql.replaceAll(/\s+/g, ' '), 'SELECT 1 , 2 , 3');
    assert.deepEqual(parseSql('-- nothing\n /* here */ ;'), []);
  });

  test('reads the verb, the number of SELECTs and the format', () => {
    const facts = (sql: string) =>
      parseSql(sql).map(({ verb, selects, format }) => ({ verb, selects, format }));
    assert.deepEqual(facts('select 1 format JSON settings a = 1'), [
      { verb: 'SELECT', selects: 1, format: 'JSON' },
    ]);
    assert.deepEqual(facts('WITH (SELECT 1) AS x SELECT x'), [{ verb: 'WITH', selects: 2, format: null }]);
    assert.deepEqual(facts("(SELECT 'SELECT' AS format)"), [{ verb: 'SELECT', selects: 1, format: null }]);
  });

  test('finds where the rows of an INSERT begin', () => {
    const rows = (sql: string) => parseSql(sql).map(({ takesRows, rows }) => (takesRows ? rows : null));
    assert.deepEqual(rows('INSERT INTO t (a) FORMAT JSONEachRow {"a":"x;y"}; z'), [' {"a":"x;y"}; z']);
    assert.deepEqual(rows('INSERT INTO t (format, values) SETTINGS x = 1 FORMAT CSV'), ['']);
    assert.deepEqual(rows("INSERT INTO t VALUES (1, ';'), (2, 'b')"), [" (1, ';'), (2, 'b')"]);
    assert.deepEqual(rows("INSERT INTO t VALUES (1, ';'); DROP TABLE t"), [" (1, ';')", null]);
    assert.deepEqual(rows('INSERT INTO t SELECT 1'), [null]);
    assert.deepEqual(rows("INSERT INTO t FROM INFILE 'x' FORMAT CSV"), [null]);
  });

  test('reads a megabyte of quoted text', () => {
    assert.equal(parseSql(`SELECT '${"a''b\\'".repeat(200_000)}'; SELECT 2`).length, 2);
  });
});

test('sqlString keeps every character inside its quotes', () => {
  assert.equal(sqlString("a'b\\c\0d"), "'a\\'b\\\\c\\0d'");
});

test('sqlName accepts plain names only', () => {
  assert.equal(sqlName('telemetry_2'), '`telemetry_2`');
  for (const name of ['', '1a', 'a.b', 'a`b', "a'b", 'ä', 'a'.repeat(64)])
    assert.throws(() => sqlName(name), RangeError);
});
