import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { before, describe, test } from 'node:test';
import { rowsOf } from '@gatehouse/store/testing';
import { useTestEngine } from '../testing/test-engine.ts';

const telemetry = await useTestEngine();
const db = await telemetry.createDatabase();

describe('inserts', () => {
  before(() =>
    db.client.command({
      query: `CREATE TABLE batch (a UInt32, b String) ENGINE = MergeTree ORDER BY a
        SETTINGS non_replicated_deduplication_window = 100`,
    }),
  );

  test('in several formats, as values, as text and as a stream', async () => {
    await db.client.insert({ table: 'batch', values: [{ a: 1, b: "x'\n;" }], format: 'JSONEachRow' });
    await db.client.insert({ table: 'batch', values: [[2, 'y']], columns: ['a', 'b'] });
    await db.client.insert({
      table: 'batch',
      values: Readable.from([{ a: 3, b: 'z' }]),
      format: 'JSONEachRow',
    });
    const csv = Readable.from(['9,"', 'cut\nanywhere"\n\n'], { objectMode: false });
    await db.client.insert({ table: 'batch', values: csv, format: 'CSV' });
    await db.client.command({ query: "INSERT INTO batch VALUES (4, 'v;w'), (5, '--')" });
    await db.client.command({ query: 'INSERT INTO batch SELECT 6, {b:String}', query_params: { b: '\0' } });
    await db.client.command({ query: 'INSERT INTO batch FORMAT CSV\n7,"a ""b"""\n8,c\n' });
    const rows = await rowsOf(db.client, 'SELECT a, b FROM batch WHERE a < 10 ORDER BY a');
    assert.deepEqual(rows, [
      { a: 1, b: "x'\n;" },
      { a: 2, b: 'y' },
      { a: 3, b: 'z' },
      { a: 4, b: 'v;w' },
      { a: 5, b: '--' },
      { a: 6, b: '\0' },
      { a: 7, b: 'a "b"' },
      { a: 8, b: 'c' },
      { a: 9, b: 'cut\nanywhere' },
    ]);
  });

  test('a deduplication token counts for its own call only', async () => {
    const insert = (a: number, token?: string) =>
      db.client.insert({
        table: 'batch',
        values: [[a, 'token']],
        columns: ['a', 'b'],
        clickhouse_settings: token === undefined ? {} : { insert_deduplication_token: token },
      });
    await insert(10, 'one');
    await insert(11);
    await insert(12);
    await insert(10, 'one');
    await insert(13, 'two');
    await insert(14, 'one');
    const rows = await rowsOf<{ a: number }>(db.client, "SELECT a FROM batch WHERE b = 'token' ORDER BY a");
    assert.deepEqual(
      rows.map(({ a }) => a),
      [10, 11, 12, 13],
    );
  });

  test('cannot carry a second statement or hide their own failure', async () => {
    const bodies = [
      'INSERT INTO batch FORMAT CSV\n20,"a\n\nDROP TABLE batch"',
      "INSERT INTO batch VALUES (20, 'a'); DROP TABLE batch",
      'INSERT INTO batch FORMAT CSV\nx,y -- { serverError 27 }',
      'INSERT INTO batch FORMAT JSONEachRow {"a":"x"} -- { serverError 27 }',
    ];
    for (const query of bodies) await assert.rejects(db.client.command({ query }), query);
    assert.deepEqual(await rowsOf(db.client, 'SELECT a FROM batch WHERE a = 20'), []);
  });
});
