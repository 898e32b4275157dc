import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createTestDatabase, dumpSchema } from '../testing/index.ts';
import { readSchema } from './schema-files.ts';

describe('the schema', () => {
  it('schema.sql is what the migrated schema is; if not, run npm run generate', async () => {
    await using test = await createTestDatabase();
    const client = await test.owner.connect();
    try {
      const committed = await readFile(join(import.meta.dirname, 'schema.sql'), 'utf8');
      assert.equal(committed, await dumpSchema(client));
    } finally {
      await client.end();
    }
  });

  it('has a file in functions/ for every function of the database, named like it', async () => {
    await using test = await createTestDatabase();
    const client = await test.owner.connect();
    try {
      const { rows } = await client.query<{ path: string }>(
        `SELECT DISTINCT 'functions/' || proname || '.sql' AS path FROM pg_proc
         WHERE pronamespace = current_schema()::regnamespace`,
      );
      const { files } = await readSchema();
      assert.deepEqual(
        rows.map(({ path }) => path).sort(),
        files.map(({ path }) => path).filter((path) => path.startsWith('functions/')),
      );
    } finally {
      await client.end();
    }
  });
});
