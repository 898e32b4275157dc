import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { useTestDatabase } from '../testing/use-test-database.ts';
import { openDatabase } from './database.ts';
import { DatabaseUnavailable } from './errors.ts';
import { sql } from './sql.ts';
import { type NoParameters, statement } from './statement.ts';

const write = statement<NoParameters>(
  'test-standby-write',
  sql`UPDATE catalogue_version SET version = version + 1`,
);

describe('a server that has become a standby', async () => {
  const test = await useTestDatabase();

  it('is unavailable for what writes, and the next attempt has another connection', async () => {
    await using owner = openDatabase(test.address, { poolSize: 1 });
    const admin = await owner.connect();
    const becomes = (what: string) =>
      admin.query(`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I ${what}', current_database()); END $$`);
    await becomes('SET default_transaction_read_only = on');
    await using database = openDatabase(test.address, { poolSize: 1 });
    await assert.rejects(database.run(write), DatabaseUnavailable);
    await becomes('RESET default_transaction_read_only');
    assert.equal(await database.run(write), 1);

    await becomes('SET default_transaction_read_only = on');
    await using other = openDatabase(test.address, { poolSize: 1 });
    await assert.rejects(
      other.transaction((tx) => tx.run(write)),
      DatabaseUnavailable,
    );
    await becomes('RESET default_transaction_read_only');
    assert.equal(await other.transaction((tx) => tx.run(write)), 1);
    await admin.end();
  });
});
