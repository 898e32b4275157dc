import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { OrganizationId } from '@gatehouse/contract';
import type { Transaction } from '@gatehouse/store';
import { createTestDatabase, runSql } from '@gatehouse/store/testing';
import { duringTests } from '../testing/during-tests.ts';
import { recordsFrom } from './record.ts';

describe('recordsFrom', () => {
  const test = duringTests(createTestDatabase);

  const newOrganization = async (name: string) => {
    const [row] = await runSql<{ id: OrganizationId }>(test.database)`
      INSERT INTO organizations (name, name_key) VALUES (${name}, ${name}) RETURNING id`;
    return row?.id ?? assert.fail();
  };
  const record = (tx: Transaction, organizationId: OrganizationId, target: string) =>
    recordsFrom('192.0.2.1')({ organizationId, actorUserId: null })(tx, 'org.renamed', target);
  const write = (organizationId: OrganizationId, target: string) =>
    test.database.transaction((tx) => record(tx, organizationId, target));
  const written = (organizationId: OrganizationId) =>
    runSql<{ sequence: bigint; target: string }>(test.database)`
      SELECT sequence, target FROM activity_events WHERE organization_id = ${organizationId} ORDER BY sequence`;

  it('numbers the entries of each organisation from 1, without a gap where a change failed', async () => {
    const [one, two] = [await newOrganization('One'), await newOrganization('Two')];
    await write(one, 'a');
    await assert.rejects(
      test.database.transaction(async (tx) => {
        await record(tx, one, 'failed');
        throw new Error('no');
      }),
    );
    await write(two, 'x');
    await write(one, 'b');
    assert.deepEqual(await written(one), [
      { sequence: 1n, target: 'a' },
      { sequence: 2n, target: 'b' },
    ]);
    assert.deepEqual(await written(two), [{ sequence: 1n, target: 'x' }]);
  });

  it('numbers without a gap at any moment, however many write at once', async () => {
    const id = await newOrganization('Busy');
    const writers = Array.from({ length: 6 }, async (_, writer) => {
      for (let n = 0; n < 20; n += 1) await write(id, `${writer}-${n}`);
    });
    let isWriting = true;
    const writing = Promise.all(writers).finally(() => {
      isWriting = false;
    });
    // A reader sees the numbers from 1 without a gap.
    while (isWriting) {
      const [seen] = await runSql(test.database)`
        SELECT count(*) = coalesce(max(sequence), 0) AS "isWhole" FROM activity_events WHERE organization_id = ${id}`;
      assert.deepEqual(seen, { isWhole: true });
    }
    await writing;
    const rows = await written(id);
    assert.deepEqual(
      rows.map(({ sequence }) => sequence),
      Array.from({ length: 120 }, (_, n) => BigInt(n + 1)),
    );
    // Each writer's own are in the order in which it wrote them.
    for (let writer = 0; writer < 6; writer += 1) {
      const own = rows.filter(({ target }) => target.startsWith(`${writer}-`));
      assert.deepEqual(
        own.map(({ target }) => target),
        Array.from({ length: 20 }, (_, n) => `${writer}-${n}`),
      );
    }
  });

  it('keeps no other organisation waiting', async () => {
    const [one, two] = [await newOrganization('Slow'), await newOrganization('Quick')];
    await test.database.transaction(async (tx) => {
      await record(tx, one, 'not yet');
      await write(two, 'done');
      assert.equal((await written(two)).length, 1);
      assert.equal((await written(one)).length, 0);
    });
    assert.equal((await written(one)).length, 1);
  });

  it('has the time at which it was written, by the clock of the database', async () => {
    const id = await newOrganization('Clock');
    await write(id, 'a');
    await write(id, 'b');
    const [row] = await runSql(test.database)`
      SELECT bool_and(occurred_at BETWEEN now() - interval '1 minute' AND clock_timestamp()) AS "isNow",
             min(occurred_at) FILTER (WHERE sequence = 1) < min(occurred_at) FILTER (WHERE sequence = 2) AS "isInOrder"
      FROM activity_events WHERE organization_id = ${id}`;
    assert.deepEqual(row, { isNow: true, isInOrder: true });
  });
});
