import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { OrganizationId } from '@gatehouse/contract';
import { createTestDatabase, rawSql, runSql } from '@gatehouse/store/testing';
import { duringTests } from '../testing/during-tests.ts';
import { recordsFrom } from './record.ts';

describe('the activity log in the database', () => {
  const test = duringTests(createTestDatabase);
  let organizationId: OrganizationId;
  before(async () => {
    const [row] = await runSql<{ id: OrganizationId }>(test.database)`
      INSERT INTO organizations (name, name_key) VALUES ('a', 'a') RETURNING id`;
    organizationId = row?.id ?? assert.fail();
    await test.database.transaction((tx) =>
      recordsFrom('192.0.2.1')({ organizationId, actorUserId: null })(tx, 'org.renamed', 'as it was'),
    );
  });

  const everything = () =>
    runSql(test.owner)`
      SELECT (SELECT json_agg(e) FROM activity_events e) AS events, (SELECT json_agg(h) FROM activity_heads h) AS heads,
      (SELECT json_agg(c) FROM activity_checkpoints c) AS checkpoints`;

  const changes = [
    `UPDATE activity_events SET target = 'forged'`,
    'UPDATE activity_events SET sequence = sequence + 1',
    `INSERT INTO activity_events SELECT * FROM activity_events
     ON CONFLICT (organization_id, sequence) DO UPDATE SET target = 'forged'`,
    'DELETE FROM activity_events',
    'TRUNCATE activity_events',
    'TRUNCATE organizations CASCADE',
    'DELETE FROM organizations',
  ];

  for (const change of changes) {
    const title = change.replaceAll(/\s+/g, ' ');
    it(`refuses the service: ${title}`, async () => {
      const before = await everything();
      await assert.rejects(runSql(test.database)`${rawSql(change)}`, { code: '42501' });
      assert.deepEqual(await everything(), before);
    });

    it(`refuses its owner as well: ${title}`, async () => {
      const before = await everything();
      await assert.rejects(runSql(test.owner)`${rawSql(change)}`, /append-only|violates foreign key/);
      assert.deepEqual(await everything(), before);
    });
  }

  for (const change of [
    `INSERT INTO activity_events SELECT organization_id, sequence + 1, actor_user_id, action, target, source_ip,
                                        occurred_at, hash FROM activity_events`,
    'UPDATE activity_heads SET last_sequence = 0',
    'DELETE FROM activity_heads',
    `INSERT INTO activity_checkpoints SELECT organization_id, sequence, hash FROM activity_events`,
    'UPDATE organizations SET activity_retention_days = 1',
    `INSERT INTO organizations (name, name_key, activity_retention_days) VALUES ('b', 'b', 1)`,
    'SET ROLE gatehouse_retention',
    'SET SESSION AUTHORIZATION gatehouse',
    'ALTER TABLE activity_events DISABLE TRIGGER USER',
    `SET session_replication_role = 'replica'`,
    'CREATE TABLE mine (x integer)',
  ]) {
    it(`refuses the service: ${change.replaceAll(/\s+/g, ' ')}`, async () => {
      const before = await everything();
      await assert.rejects(runSql(test.database)`${rawSql(change)}`, { code: /^(42501|42883)$/ });
      assert.deepEqual(await everything(), before);
    });
  }

  it('does not let the service remove entries within the retention', async () => {
    const before = await everything();
    const [result] = await runSql(test.database)`SELECT * FROM purge_activity(${organizationId}, 100)`;
    assert.deepEqual(result, { removed: 0n, brokenSequence: null });
    assert.deepEqual(await everything(), before);
  });

  it('is written to the real table when the service shadows it with a temporary one', async () => {
    // A temporary table comes first in the usual order of looking a name up.
    const client = await test.database.connect();
    try {
      await client.query('CREATE TEMPORARY TABLE activity_events (LIKE activity_events)');
      await client.query(`SELECT append_activity($1, NULL, 'org.renamed', 'kept', '192.0.2.1')`, [
        organizationId,
      ]);
    } finally {
      await client.end();
    }
    const [row] = await runSql(test.owner)`SELECT target FROM activity_events ORDER BY sequence DESC LIMIT 1`;
    assert.deepEqual(row, { target: 'kept' });
  });
});
