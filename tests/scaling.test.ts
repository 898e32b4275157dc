import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { KEPT_TABLES } from './drills/capacity/kept-rows.ts';
import { scalingTables } from './scaling-tables.ts';

const read = (path: string) => readFile(join(import.meta.dirname, '..', path), 'utf8');

describe('docs/scaling.md', () => {
  for (const [name, expected] of scalingTables()) {
    it(`has the table "${name}" as it is calculated (node tests/scaling-tables.ts prints it)`, async () => {
      const page = await read('docs/scaling.md');
      const [, found] = new RegExp(`<!-- ${name} -->\\n([\\s\\S]*?)\\n<!-- end -->`).exec(page) ?? [];
      assert.equal(found, expected);
    });
  }

  it('says of every table of the schema what it keeps', async () => {
    const schema = await read('store/src/postgres/schema.sql');
    const tables = [...schema.matchAll(/^CREATE TABLE (\w+) \(/gm)].map(([, table]) => table ?? '');
    assert.ok(tables.length > 20);
    assert.deepEqual(KEPT_TABLES.map(({ table }) => table).sort(), tables.sort());
  });

  it('lets no table keep rows of requests for ever', () => {
    for (const { table, perRequest, kept } of KEPT_TABLES)
      assert.ok(perRequest === '0' || kept !== 'for ever', table);
  });
});
