import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fragment, int64, joinSql, rawSql, telemetryQuery, text } from './telemetry-query.ts';

describe('fragment', () => {
  it('keeps values out of the SQL, also those of fragments in it', () => {
    const inner = fragment`model = ${text('model', "x' OR 1=1")}`;
    const from = int64('from_micros', 7n);
    const where = joinSql([inner, fragment`timestamp >= ${from}`, fragment`${from} > 0`], ' AND ');
    assert.deepEqual(telemetryQuery(fragment`SELECT ${rawSql('count()')} WHERE ${where}`, { a: 1 }), {
      sql: 'SELECT count() WHERE model = {model:String} AND timestamp >= {from_micros:Int64} AND {from_micros:Int64} > 0',
      parameters: { model: "x' OR 1=1", from_micros: 7n },
      settings: { a: 1 },
    });
  });

  it('refuses two values under one name', () => {
    assert.throws(() => fragment`${int64('a', 1n)} < ${int64('a', 2n)}`, /the parameter a has two values/);
    const [one, two] = [fragment`${int64('a', 1n)}`, fragment`${int64('a', 2n)}`];
    assert.throws(() => joinSql([one, two], ','), /the parameter a has two values/);
  });

  it('takes no plain string', () => {
    const sent = 'x';
    // @ts-expect-error: a caller's text would become SQL
    assert.throws(() => fragment`SELECT ${sent}`, TypeError);
  });
});
