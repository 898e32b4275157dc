import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { OrganizationId } from '@gatehouse/contract';
import type { Database } from '@gatehouse/store';
import { createTestDatabase, runSql, type TestDatabase } from '@gatehouse/store/testing';
import { purgeActivity } from './purge-activity.ts';
import { verifyActivity } from './verify-activity.ts';

describe('purgeActivity', () => {
  let test: TestDatabase;
  let tamperer: Awaited<ReturnType<Database['connect']>>;
  before(async () => {
    test = await createTestDatabase();
    tamperer = await test.owner.connect();
    await tamperer.query(`SET session_replication_role = 'replica'`);
  });
  after(async () => {
    await tamperer.end();
    await test[Symbol.asyncDispose]();
  });

  /** A log whose entries are so many days old, the oldest first: each with the hash that it had when it was written. */
  const newLog = async (agesInDays: readonly number[]): Promise<OrganizationId> => {
    const name = randomUUID();
    const [row] = await runSql<{ id: OrganizationId }>(test.database)`
      INSERT INTO organizations (name, name_key) VALUES (${name}, ${name}) RETURNING id`;
    const organizationId = row?.id ?? assert.fail();
    await tamperer.query('INSERT INTO activity_heads (organization_id) VALUES ($1)', [organizationId]);
    await tamperer.query(
      `WITH RECURSIVE ages AS (SELECT age, n FROM unnest($2::float[]) WITH ORDINALITY AS u (age, n)),
       made AS (
         SELECT 0::bigint AS n, decode(repeat('00', 32), 'hex') AS hash, NULL::timestamptz AS at
         UNION ALL
         SELECT a.n, activity_entry_hash(m.hash, $1, a.n, NULL, 'org.renamed', 'Name ' || a.n, '192.0.2.1', t.at), t.at
         FROM made m JOIN ages a ON a.n = m.n + 1
         CROSS JOIN LATERAL (SELECT statement_timestamp() - make_interval(secs => a.age * 86400) AS at) t
       )
       INSERT INTO activity_events (organization_id, sequence, action, target, source_ip, occurred_at, hash)
       SELECT $1, n, 'org.renamed', 'Name ' || n, '192.0.2.1', at, hash FROM made WHERE n > 0`,
      [organizationId, agesInDays],
    );
    await tamperer.query(
      `UPDATE activity_heads h SET last_sequence = e.sequence, last_hash = e.hash, last_occurred_at = e.occurred_at
       FROM activity_events e
       WHERE h.organization_id = $1 AND e.organization_id = $1 AND e.sequence = cardinality($2::float[])`,
      [organizationId, agesInDays],
    );
    return organizationId;
  };
  const retain = (organizationId: OrganizationId, days: number | null) =>
    runSql(test.owner)`
      UPDATE organizations SET activity_retention_days = ${days} WHERE id = ${organizationId}`;
  const purge = async (organizationId: OrganizationId) =>
    (await Array.fromAsync(purgeActivity(test.database, organizationId))).map(
      ({ removed, brokenSequence }) => ({
        removed,
        brokenSequence,
      }),
    );
  const verified = async (organizationId: OrganizationId) => {
    const [log] = await Array.fromAsync(verifyActivity(test.owner, { organizationId }));
    return log ?? assert.fail();
  };
  const sequences = async (organizationId: OrganizationId) =>
    (
      await runSql<{ sequence: bigint }>(test.database)`
        SELECT sequence FROM activity_events WHERE organization_id = ${organizationId} ORDER BY sequence`
    ).map(({ sequence }) => Number(sequence));

  it('removes the oldest entries and leaves the rest verifiable', async () => {
    const organizationId = await newLog([900, 400, 366, 364, 3, 0]);
    assert.deepEqual(await purge(organizationId), [{ removed: 3, brokenSequence: null }]);
    assert.deepEqual(await sequences(organizationId), [4, 5, 6]);
    const { broken, entries, checkpointSequence, lastSequence } = await verified(organizationId);
    assert.deepEqual(
      { broken, entries, checkpointSequence, lastSequence },
      { broken: null, entries: 3, checkpointSequence: 3n, lastSequence: 6n },
    );
    assert.deepEqual(await purge(organizationId), [], 'a second purge removes nothing');
  });

  for (const days of [null, 1, 30, 400]) {
    it(`removes an entry when it is ${days ?? 365} days old, ${days === null ? 'by default' : 'by the organisation’s own retention'}, and not before`, async () => {
      const retained = days ?? 365;
      const organizationId = await newLog([retained + 0.01, retained - 0.01]);
      await retain(organizationId, days);
      assert.deepEqual(await purge(organizationId), [{ removed: 1, brokenSequence: null }]);
      assert.deepEqual(await sequences(organizationId), [2]);
    });
  }

  it('applies each new retention, and later entries continue the chain', async () => {
    const organizationId = await newLog([40, 30, 20, 10, 5]);
    for (const [days, left] of [
      [35, [2, 3, 4, 5]],
      [15, [4, 5]],
      [1, []],
    ] as const) {
      await retain(organizationId, days);
      await purge(organizationId);
      assert.deepEqual(await sequences(organizationId), left);
      assert.equal((await verified(organizationId)).broken, null);
    }
    await runSql(test.database)`
      SELECT append_activity(${organizationId}, NULL, 'org.renamed', 'later', '::1')`;
    const { broken, lastSequence, checkpointSequence } = await verified(organizationId);
    assert.deepEqual([broken, lastSequence, checkpointSequence], [null, 6n, 5n]);
    await retain(organizationId, null);
    assert.deepEqual(await purge(organizationId), []);
  });

  it('removes thousands, in steps', async () => {
    const organizationId = await newLog([...Array.from({ length: 4_100 }, () => 500), 1]);
    assert.deepEqual(await purge(organizationId), [{ removed: 4_100, brokenSequence: null }]);
    assert.deepEqual(await sequences(organizationId), [4_101]);
    assert.equal((await verified(organizationId)).broken, null);
  });

  it('keeps a broken entry and all that follow, and reports it each time', async () => {
    const organizationId = await newLog([500, 499, 498, 497, 1]);
    await tamperer.query(
      `UPDATE activity_events SET target = 'forged' WHERE organization_id = $1 AND sequence = 3`,
      [organizationId],
    );
    assert.deepEqual(await purge(organizationId), [{ removed: 2, brokenSequence: 3n }]);
    assert.deepEqual(await purge(organizationId), [{ removed: 0, brokenSequence: 3n }]);
    assert.deepEqual(await sequences(organizationId), [3, 4, 5]);
    assert.equal((await verified(organizationId)).broken?.sequence, 3n);
  });

  for (const [what, change, sequence] of [
    ['is missing', 'DELETE FROM activity_events WHERE organization_id = $1 AND sequence = 2', 2n],
    [
      'has no time',
      `UPDATE activity_events SET occurred_at = '-infinity' WHERE organization_id = $1 AND sequence = 2`,
      2n,
    ],
    [
      'comes before the first',
      `INSERT INTO activity_events
       SELECT organization_id, 0, actor_user_id, action, target, source_ip, occurred_at, hash
       FROM activity_events WHERE organization_id = $1 AND sequence = 1`,
      0n,
    ],
  ] as const) {
    it(`keeps everything from an entry that ${what}`, async () => {
      const organizationId = await newLog([500, 499, 498]);
      await tamperer.query(change, [organizationId]);
      const [purged] = await purge(organizationId);
      assert.equal(purged?.brokenSequence, sequence);
      assert.equal((await verified(organizationId)).broken?.sequence, sequence);
    });
  }

  it('keeps an entry of a clock that was ahead until the entries after it are old, and purges past it then', async () => {
    const organizationId = await newLog([500, 499, -2_000, 498, -10, 1]);
    assert.deepEqual(await purge(organizationId), [{ removed: 4, brokenSequence: null }]);
    assert.deepEqual(await sequences(organizationId), [5, 6]);
    assert.equal((await verified(organizationId)).broken, null);
  });

  it('removes each entry once when several purges and writers run at once', async () => {
    const organizationId = await newLog([...Array.from({ length: 300 }, () => 500), 1]);
    const [purges] = await Promise.all([
      Promise.all([purge(organizationId), purge(organizationId), purge(organizationId)]),
      ...Array.from(
        { length: 10 },
        () =>
          runSql(test.database)`
            SELECT append_activity(${organizationId}, NULL, 'org.renamed', 'meanwhile', '::1')`,
      ),
    ]);
    assert.equal(
      purges.flat().reduce((sum, { removed }) => sum + removed, 0),
      300,
    );
    const { broken, entries } = await verified(organizationId);
    assert.deepEqual([broken, entries], [null, 11]);
  });
});
