import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { testServers } from '../testing/test-servers.ts';
import { openDatabase } from './database.ts';
import { migratePostgres, readMigrations } from './migrate.ts';

describe('the step that partitions settlements', () => {
  it('keeps every row that was there, and what they are recognised by', async () => {
    const server = (await testServers()).postgres;
    const name = `m_${randomUUID().replaceAll('-', '')}`;
    await using admin = openDatabase({ ...server, database: 'postgres' }, { poolSize: 1 });
    const client = await admin.connect();
    try {
      await client.query(`CREATE DATABASE ${name}`);
      await using database = openDatabase({ ...server, database: name }, { poolSize: 1 });
      const steps = await readMigrations();
      const before = steps.slice(
        0,
        steps.findIndex((step) => step.name === 'ledger'),
      );
      await migratePostgres(database, { migrations: before, serviceMayLogIn: true });
      const owner = await database.connect();
      try {
        // Ids by chance, and two that look like times: one of now, one of years ago.
        await owner.query(`
          INSERT INTO settlements (request_id, organization_id, key_id, cost_micro_pkr)
          SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), n FROM generate_series(1, 2000) AS n`);
        for (const at of [Date.now(), Date.UTC(2020, 0, 1)]) {
          const time = at.toString(16).padStart(12, '0');
          const id = `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
          await owner.query(
            'INSERT INTO settlements (request_id, organization_id, key_id, cost_micro_pkr) VALUES ($1, $1, $1, 0)',
            [id],
          );
        }
        await owner.query('CREATE TABLE expected AS SELECT * FROM settlements');
        await migratePostgres(database, { serviceMayLogIn: true });
        const { rows } = await owner.query(`
          SELECT (SELECT count(*)::integer FROM settlements s JOIN expected e ON e = s) AS kept,
                 (SELECT count(*)::integer FROM settlements) AS "all",
                 (SELECT count(*)::integer FROM settlements_untimed) AS untimed`);
        assert.deepEqual([rows[0].kept, rows[0].all], [2_002, 2_002]);
        assert.ok(rows[0].untimed > 1_900);
        const again = await owner.query(
          'INSERT INTO settlements SELECT * FROM expected ON CONFLICT (request_id) DO NOTHING',
        );
        assert.equal(again.rowCount, 0);
      } finally {
        await owner.end();
      }
    } finally {
      await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      await client.end();
    }
  });
});
