import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Database, DatabaseUnavailable, openDatabase } from '@gatehouse/store';
import { rawSql, runSql, useTestDatabase } from '@gatehouse/store/testing';
import { change } from './database.ts';

const test = await useTestDatabase();

describe('change', () => {
  /** The message about a change that runs into this. */
  async function said(database: Database, sql: string): Promise<string> {
    const error = await change('gatehouse org list', () =>
      database.transaction((tx) => runSql(tx)`${rawSql(sql)}`),
    ).catch((thrown: unknown) => thrown);
    assert.ok(error instanceof Error && error.name === 'CommandError', String(error));
    return error.message;
  }

  it('says that nothing was changed where a lock or the statement took too long', async () => {
    for (const sql of [
      `DO $$ BEGIN RAISE 'too long' USING ERRCODE = '55P03'; END $$`,
      `DO $$ BEGIN RAISE 'far too long' USING ERRCODE = '57014'; END $$`,
    ])
      assert.match(await said(test.owner, sql), /^PostgreSQL cannot be used right now; nothing was changed$/);
  });

  it('says so where nobody answers', async () => {
    for (const url of [
      'postgres://127.0.0.1:1/x',
      'postgres://localhost:1/x',
      'postgresql:///x?host=/none',
    ]) {
      await using nowhere = openDatabase({ url });
      assert.match(await said(nowhere, 'SELECT 1'), /; nothing was changed$/);
    }
  });

  it('says that it is not certain where the connection is lost on the way', async () => {
    assert.match(
      await said(test.owner, 'SELECT pg_terminate_backend(pg_backend_pid())'),
      /: whether the change was made is not certain, .*\(gatehouse org list\)$/,
    );
    const lost = new DatabaseUnavailable('gone', { cause: new Error('Connection terminated unexpectedly') });
    await assert.rejects(
      change('x', () => Promise.reject(lost)),
      /not certain/,
    );
  });

  it('leaves every other error as it is', async () => {
    const other = new Error('other');
    await assert.rejects(
      change('x', () => Promise.reject(other)),
      other,
    );
  });
});
