import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTestDatabase, runSql } from '@gatehouse/store/testing';
import { recordsFrom } from '../activity/index.ts';
import { duringTests } from '../testing/during-tests.ts';
import { createOrganization, DepositError, deposit } from './create-organization.ts';

describe('createOrganization', () => {
  const test = duringTests(createTestDatabase);

  const create = (name: string, key = name) =>
    test.database.transaction((tx) => createOrganization(tx, { name, key }));

  it('makes its first project and its balance, and says no when the name is taken', async () => {
    const id = await create('Acme', 'acme');
    assert.ok(id);
    assert.equal(await create('ACME', 'acme'), undefined);
    const rows = await runSql(test.database)`
      SELECT o.name, p.name AS project, b.deposited_micro_pkr AS deposited
      FROM organizations o JOIN projects p ON p.organization_id = o.id JOIN balances b ON b.organization_id = o.id`;
    assert.deepEqual(rows, [{ name: 'Acme', project: 'Default', deposited: 0n }]);
  });

  it('waits for a concurrent creation of the same name, and takes the name when that rolls back', async () => {
    const release = Promise.withResolvers<void>();
    const made = Promise.withResolvers<void>();
    const first = test.database
      .transaction(async (tx) => {
        await createOrganization(tx, { name: 'Twin', key: 'twin' });
        made.resolve();
        await release.promise;
        throw new Error('no');
      })
      .catch((error: Error) => error.message);
    await made.promise;
    const second = create('Twin', 'twin');
    release.resolve();
    assert.equal(await first, 'no');
    assert.ok(await second);
    const projects = await runSql(test.database)`SELECT FROM organizations WHERE name_key = 'twin'`;
    assert.equal(projects.length, 1);
  });

  describe('deposit', () => {
    for (const [amount, words] of [
      [1n, '0.000001 PKR'],
      [2_500_500_000n, '2500.50 PKR'],
      [1_000_000_000_000n, '1000000.00 PKR'],
      [9_007_199_254_740_993n, '9007199254.740993 PKR'],
    ] satisfies [bigint, string][]) {
      it(`adds ${words} exactly, and writes it down without an actor`, async () => {
        const organizationId = (await create(`Rich ${amount}`)) ?? assert.fail();
        for (let times = 0; times < 2; times += 1) {
          await test.database.transaction((tx) =>
            deposit(tx, { organizationId, amountMicroPkr: amount, note: 'thanks' }, recordsFrom('192.0.2.1')),
          );
        }
        assert.deepEqual(
          await runSql(test.database)`
            SELECT b.deposited_micro_pkr AS total, (SELECT sum(amount_micro_pkr) FROM deposits WHERE organization_id = ${organizationId}) AS sum
            FROM balances b WHERE b.organization_id = ${organizationId}`,
          [{ total: 2n * amount, sum: 2n * amount }],
        );
        assert.deepEqual(
          await runSql(test.database)`
            SELECT action, target, actor_user_id, source_ip FROM activity_events WHERE organization_id = ${organizationId} AND sequence = 2`,
          [{ action: 'budget.deposited', target: words, actorUserId: null, sourceIp: '192.0.2.1' }],
        );
      });
    }

    it('returns all that was deposited, and takes no note for none', async () => {
      const organizationId = (await create('Twice')) ?? assert.fail();
      const add = (amountMicroPkr: bigint, note: string | null) =>
        test.owner.transaction((tx) =>
          deposit(tx, { organizationId, amountMicroPkr, note }, recordsFrom('::1')),
        );
      assert.equal(await add(5n, 'five'), 5n);
      assert.equal(await add(7n, null), 12n);
      assert.deepEqual(
        await runSql(test.owner)`
          SELECT note FROM deposits WHERE organization_id = ${organizationId} ORDER BY created_at`,
        [{ note: 'five' }, { note: null }],
      );
    });

    it('refuses what would pass the largest total, and leaves no trace of it', async () => {
      const organizationId = (await create('Full')) ?? assert.fail();
      const add = (amountMicroPkr: bigint) =>
        test.owner.transaction((tx) =>
          deposit(tx, { organizationId, amountMicroPkr, note: null }, recordsFrom('::1')),
        );
      const largest = 2n ** 63n - 1n;
      assert.equal(await add(largest - 1n), largest - 1n);
      await assert.rejects(add(2n), DepositError);
      assert.equal(await add(1n), largest);
      await assert.rejects(add(1n), DepositError);
      await assert.rejects(add(largest), DepositError);
      const [left] = await runSql(test.owner)`
        SELECT (SELECT count(*) FROM activity_events WHERE organization_id = ${organizationId}) AS entries,
        (SELECT count(*) FROM deposits WHERE organization_id = ${organizationId}) AS deposits`;
      assert.deepEqual(left, { entries: 2n, deposits: 2n });
    });

    it('adds up when many deposit at once', async () => {
      const organizationId = (await create('Many')) ?? assert.fail();
      await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          test.database.transaction((tx) =>
            deposit(tx, { organizationId, amountMicroPkr: BigInt(n + 1), note: '' }, recordsFrom('')),
          ),
        ),
      );
      const [balance] = await runSql(test.database)`
        SELECT deposited_micro_pkr AS total, (SELECT max(sequence) FROM activity_events WHERE organization_id = ${organizationId}) AS entries
        FROM balances WHERE organization_id = ${organizationId}`;
      assert.deepEqual(balance, { total: 210n, entries: 20n });
    });

    it('leaves no trace when its transaction fails', async () => {
      const organizationId = (await create('Undone')) ?? assert.fail();
      await assert.rejects(
        test.database.transaction(async (tx) => {
          await deposit(tx, { organizationId, amountMicroPkr: 5n, note: '' }, recordsFrom(''));
          throw new Error('no');
        }),
      );
      const [left] = await runSql(test.database)`
        SELECT deposited_micro_pkr AS total, (SELECT count(*) FROM activity_events WHERE organization_id = ${organizationId}) AS entries,
               (SELECT count(*) FROM deposits WHERE organization_id = ${organizationId}) AS deposits
        FROM balances WHERE organization_id = ${organizationId}`;
      assert.deepEqual(left, { total: 0n, entries: 0n, deposits: 0n });
    });
  });
});
