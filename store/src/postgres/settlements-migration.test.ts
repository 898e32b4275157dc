import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, it } from 'node:test';
import { createDatabaseAtStep } from '../testing/index.ts';
import { migratePostgres } from './migrate.ts';

describe('step 9, which partitions settlements', () => {
  it('keeps every row and recognises its id', async () => {
    await using old = await createDatabaseAtStep(8);
    // Random ids, and two with a time in them: now, and years ago.
    await old.query(`
      INSERT INTO settlements (request_id, organization_id, key_id, cost_micro_pkr)
      SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), n FROM generate_series(1, 2000) AS n`);
    for (const at of [Date.now(), Date.UTC(2020, 0, 1)]) {
      const time = at.toString(16).padStart(12, '0');
      const id = `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
      await old.query(
        'INSERT INTO settlements (request_id, organization_id, key_id, cost_micro_pkr) VALUES ($1, $1, $1, 0)',
        [id],
      );
    }
    await old.query('CREATE TABLE expected AS SELECT * FROM settlements');
    await migratePostgres(old.owner, { serviceMayLogIn: true });
    const [counts] = await old.query<{ kept: number; all: number; untimed: number }>(`
      SELECT (SELECT count(*)::integer FROM settlements s
                JOIN expected e USING (request_id, organization_id, key_id, cost_micro_pkr, settled_at)) AS kept,
             (SELECT count(*)::integer FROM settlements) AS "all",
             (SELECT count(*)::integer FROM settlements_untimed) AS untimed`);
    assert.deepEqual([counts?.kept, counts?.all], [2_002, 2_002]);
    assert.ok((counts?.untimed ?? 0) > 1_900);
    const inserted = await old.query(
      'INSERT INTO settlements SELECT * FROM expected ON CONFLICT (request_id) DO NOTHING RETURNING 1',
    );
    assert.equal(inserted.length, 0);
  });
});
