import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { createTestDatabase, rawSql, runSql, type TestDatabase } from '@gatehouse/store/testing';
import { examineLedger } from './examine-ledger.ts';
import { type Fold, keepLedger } from './keep-ledger.ts';

const DAY_MS = 24 * 60 * 60_000;

/** A request id of `days` days ago. */
function idFrom(daysAgo: number): string {
  const time = (Date.now() - daysAgo * DAY_MS).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

describe('the ledger', () => {
  let test: TestDatabase;
  beforeEach(async () => {
    test = await createTestDatabase();
  });
  afterEach(() => test[Symbol.asyncDispose]());

  /** An organisation with 100 PKR and a key, whose sums include the given settlements. */
  async function account(settlements: readonly { readonly id: string; readonly cost: number }[] = []) {
    const name = randomUUID();
    const [organization] = await runSql<{ id: string }>(test.owner)`
      INSERT INTO organizations (name, name_key) VALUES (${name}, ${name}) RETURNING id`;
    const organizationId = organization?.id ?? '';
    const [project] = await runSql<{ id: string }>(test.owner)`
      INSERT INTO projects (organization_id, name) VALUES (${organizationId}, 'Default') RETURNING id`;
    const [key] = await runSql<{ id: string }>(test.owner)`
      INSERT INTO api_keys (organization_id, project_id, name, key_prefix, secret_hash, rate_limit_rpm, environment)
      VALUES (${organizationId}, ${project?.id ?? ''}, 'k', 'p', ${Buffer.from(randomUUID())}, 60, 'testing') RETURNING id`;
    const keyId = key?.id ?? '';
    const spent = settlements.reduce((sum, { cost }) => sum + cost, 0);
    await runSql(test.owner)`
      INSERT INTO deposits (organization_id, amount_micro_pkr) VALUES (${organizationId}, 100000000)`;
    await runSql(test.owner)`
      INSERT INTO balances (organization_id, deposited_micro_pkr, spent_micro_pkr) VALUES (${organizationId}, 100000000, ${spent})`;
    await runSql(test.owner)`UPDATE api_keys SET spent_micro_pkr = ${spent} WHERE id = ${keyId}`;
    for (const { id, cost } of settlements) {
      await runSql(test.database)`
        INSERT INTO settlements (request_id, organization_id, key_id, cost_micro_pkr) VALUES (${id}, ${organizationId}, ${keyId}, ${cost})`;
    }
    return { organizationId, keyId };
  }

  const admit = (
    organizationId: string,
    requestId: string,
    keyId: string,
    amountMicroPkr: number,
    holdMs: number,
  ) =>
    runSql(test.database)`
      SELECT admit('{}', '{}', '{}', ARRAY[${requestId}::uuid], ARRAY[${organizationId}::uuid], ARRAY[${keyId}::uuid],
                   ARRAY[${amountMicroPkr}::bigint], ARRAY[${amountMicroPkr}::bigint], '{false}', ARRAY[${holdMs}::bigint],
                   '{}', '{}', '{}', '{}', NULL)`;

  /** Makes the ledger begin that many days ago. */
  const openedDaysAgo = (days: number) =>
    runSql(test.owner)`
      WITH bound AS (SELECT settlement_bound(settlement_week(clock_timestamp() - make_interval(days => ${days}))) AS id)
      UPDATE settlement_horizon SET opened_at = bound.id, closed_before = bound.id FROM bound`;
  const makeWeek = (daysAgo: number) =>
    runSql(test.owner)`
      SELECT make_settlement_partition(settlement_week(clock_timestamp() - make_interval(days => ${daysAgo})))`;
  const partitions = async () =>
    (
      await runSql<{ name: string }>(test.owner)`
        SELECT relid::text AS name FROM pg_partition_tree('settlements') WHERE isleaf AND relid::text ~ '\\d' ORDER BY 1`
    ).map(({ name }) => name);
  const keep = () => Array.fromAsync(keepLedger(test.database));
  const sentences = async () => (await examineLedger(test.owner)).findings.map(({ sentence }) => sentence);

  it('folds weeks older than the retention into sums, once, and keeps younger weeks', async () => {
    await openedDaysAgo(130);
    await makeWeek(120);
    await makeWeek(110);
    await makeWeek(40);
    const { keyId } = await account([
      { id: idFrom(120), cost: 1 },
      { id: idFrom(120), cost: 2 },
      { id: idFrom(110), cost: 4 },
      // This week has no partition.
      { id: idFrom(100), cost: 8 },
      { id: idFrom(40), cost: 16 },
      { id: idFrom(0), cost: 32 },
      // An id without a time, from an older version.
      { id: `0400${randomUUID().slice(4)}`, cost: 64 },
    ]);
    const other = await account([{ id: idFrom(110), cost: 128 }]);
    const before = await partitions();
    const folds = (await keep()).map(({ requests, spentMicroPkr }: Fold) => [requests, spentMicroPkr]);
    assert.deepEqual(folds, [
      [2, 3n],
      [2, 132n],
      [1, 8n],
    ]);
    // Partitions of future weeks may be new: the template of this database may be from another week.
    const left = await partitions();
    assert.equal(before.filter((name) => !left.includes(name)).length, 2);
    assert.deepEqual(
      await runSql(test.owner)`
        SELECT key_id, spent_micro_pkr, requests FROM settlement_totals ORDER BY spent_micro_pkr`,
      [
        { keyId, spentMicroPkr: 15n, requests: 4n },
        { keyId: other.keyId, spentMicroPkr: 128n, requests: 1n },
      ],
    );
    assert.deepEqual(await runSql(test.owner)`SELECT sum(cost_micro_pkr) AS sum FROM settlements`, [
      { sum: 112n },
    ]);
    assert.deepEqual(await keep(), []);
    const { findings, ...counted } = await examineLedger(test.owner);
    assert.deepEqual(findings, []);
    assert.deepEqual([counted.settlements, counted.folded, counted.keys], [3n, 5n, 2n]);
  });

  it('moves earlier rows into a new partition', async () => {
    await openedDaysAgo(40);
    await account([
      { id: idFrom(30), cost: 1 },
      { id: idFrom(20), cost: 2 },
    ]);
    assert.match((await sentences()).join(), /^2 settlements are in no week's partition: /);
    await makeWeek(30);
    await makeWeek(20);
    assert.deepEqual(await runSql(test.owner)`SELECT FROM settlements_other`, []);
    assert.deepEqual(await sentences(), []);
  });

  it('is maintained by several nodes at once', async () => {
    await openedDaysAgo(400);
    const days = Array.from({ length: 40 }, (_, n) => 100 + 7 * n);
    for (const day of days) await makeWeek(day);
    await account(days.map((day) => ({ id: idFrom(day), cost: day })));
    const folds = (await Promise.all([keep(), keep(), keep()])).flat();
    assert.equal(new Set(folds.map(({ partition }) => partition)).size, folds.length);
    // A second caller leaves the work to the first.
    await keep();
    const total = days.reduce((sum, day) => sum + day, 0);
    assert.deepEqual(await runSql(test.owner)`SELECT spent_micro_pkr, requests FROM settlement_totals`, [
      { spentMicroPkr: BigInt(total), requests: 40n },
    ]);
    assert.deepEqual(await sentences(), []);
  });

  it('gives up after a timeout when a reader blocks the fold, and folds at the next call', async () => {
    await openedDaysAgo(130);
    await makeWeek(120);
    await account([{ id: idFrom(120), cost: 1 }]);
    const reader = await test.owner.connect();
    try {
      await reader.query('BEGIN');
      await reader.query('SELECT * FROM settlements');
      await assert.rejects(keep(), /lock timeout/);
    } finally {
      await reader.end();
    }
    assert.deepEqual(await sentences(), []);
    assert.equal((await keep()).length, 1);
    assert.deepEqual(await sentences(), []);
  });

  it('allows the service to add rows and nothing else', async () => {
    await account([{ id: idFrom(0), cost: 1 }]);
    const [partition] = await partitions();
    for (const text of [
      'UPDATE settlements SET cost_micro_pkr = 0',
      'DELETE FROM settlements',
      'TRUNCATE settlements',
      `SELECT * FROM ${partition}`,
      `DROP TABLE ${partition}`,
      `INSERT INTO ${partition} SELECT * FROM settlements`,
      'UPDATE settlement_totals SET spent_micro_pkr = 0',
      'UPDATE settlement_horizon SET closed_before = closed_before',
      'SELECT close_settlements(clock_timestamp())',
      'SELECT make_settlement_partition(clock_timestamp())',
    ]) {
      await assert.rejects(runSql(test.database)`${rawSql(text)}`, /permission denied|must be owner/, text);
    }
  });

  describe('verification', () => {
    it('reports nothing for a correct ledger, also with settlements of the current week', async () => {
      assert.deepEqual(await sentences(), []);
      await account();
      await account([{ id: idFrom(0), cost: 5 }]);
      assert.deepEqual(await sentences(), []);
    });

    it('names every sum that differs from its rows, and the difference', async () => {
      const { organizationId, keyId } = await account([{ id: idFrom(0), cost: 5_000_000 }]);
      const key = `the key ${keyId} of the organisation ${organizationId}`;
      const organization = `the organisation ${organizationId}`;
      const cases: [string, string, string[]][] = [
        [
          'UPDATE api_keys SET spent_micro_pkr = 4000000',
          'UPDATE api_keys SET spent_micro_pkr = 5000000',
          [`${key} says it has spent 4.00 PKR, and its settlements come to 5.00 PKR`],
        ],
        [
          'UPDATE api_keys SET held_micro_pkr = 1',
          'UPDATE api_keys SET held_micro_pkr = 0',
          [`${key} says it has held 0.000001 PKR, and its holds come to 0.00 PKR`],
        ],
        [
          'UPDATE api_keys SET unsettled_micro_pkr = 1',
          'UPDATE api_keys SET unsettled_micro_pkr = 0',
          [`${key} says it has unsettled 0.000001 PKR, and its finished holds come to 0.00 PKR`],
        ],
        [
          'UPDATE balances SET unsettled_micro_pkr = 2',
          'UPDATE balances SET unsettled_micro_pkr = 0',
          [`${organization} says it has unsettled 0.000002 PKR, and its finished holds come to 0.00 PKR`],
        ],
        [
          'UPDATE balances SET deposited_micro_pkr = 100000001',
          'UPDATE balances SET deposited_micro_pkr = 100000000',
          [`${organization} says it has deposited 100.000001 PKR, and its deposits come to 100.00 PKR`],
        ],
        [
          'UPDATE balances SET spent_micro_pkr = 0, held_micro_pkr = 7',
          'UPDATE balances SET spent_micro_pkr = 5000000, held_micro_pkr = 0',
          [
            `${organization} says it has spent 0.00 PKR, and its settlements come to 5.00 PKR`,
            `${organization} says it has held 0.000007 PKR, and its holds come to 0.00 PKR`,
          ],
        ],
      ];
      for (const [wrong, right, expected] of cases) {
        await runSql(test.owner)`${rawSql(wrong)}`;
        assert.deepEqual(await sentences(), expected);
        await runSql(test.owner)`${rawSql(right)}`;
        assert.deepEqual(await sentences(), []);
      }
    });

    it('finds settlements without a key and organisations without a balance', async () => {
      const { organizationId } = await account();
      const nobody = randomUUID();
      await runSql(test.database)`
        INSERT INTO settlements (request_id, organization_id, key_id, cost_micro_pkr) VALUES (${idFrom(0)}, ${organizationId}, ${nobody}, 0)`;
      assert.deepEqual(await sentences(), [
        `the key ${nobody} of the organisation ${organizationId} does not exist, and has settlements of 0.00 PKR`,
      ]);
      const [bare] = await runSql<{ id: string }>(test.owner)`
        INSERT INTO organizations (name, name_key) VALUES ('b', 'b') RETURNING id`;
      assert.ok(
        (await sentences()).includes(`the organisation ${bare?.id} has no balance, and deposits of 0.00 PKR`),
      );
    });

    it('finds holds that were never released, except those that the reaper will release', async () => {
      const { organizationId, keyId } = await account();
      const hold = (holdMs: number) => admit(organizationId, idFrom(0), keyId, 1_000_000, holdMs);
      await hold(60_000);
      await hold(-30_000);
      assert.deepEqual(await sentences(), []);
      await hold(-61_000);
      await hold(-90_000);
      const found = await sentences();
      assert.equal(found.length, 1);
      assert.match(found[0] ?? '', /has 2 holds of 2\.00 PKR past the deadline, the oldest since 20/);
    });

    it('finds missing partitions and changed privileges', async () => {
      await runSql(test.owner)`
        DO $$ BEGIN EXECUTE 'DROP TABLE ' || settlement_partition(settlement_week(clock_timestamp() + interval '7 days')); END $$`;
      await runSql(test.owner)`GRANT DELETE ON settlements TO gatehouse_service`;
      await runSql(test.owner)`REVOKE EXECUTE ON FUNCTION fold_settlements FROM gatehouse_service`;
      assert.deepEqual(await sentences(), [
        'the ledger has no partition for next week: the API makes them while it runs',
        'gatehouse_service has the right to DELETE on settlements, which Gatehouse does not grant',
        'gatehouse_service lacks the right to EXECUTE on fold_settlements(), which Gatehouse grants',
      ]);
      await keep().catch(() => undefined);
      assert.equal((await sentences()).length, 2, 'the next to keep the ledger makes the partition');
    });

    it('reads one snapshot while others settle and fold', async () => {
      await openedDaysAgo(200);
      const days = [150, 143, 136, 129, 122];
      for (const day of days) await makeWeek(day);
      const { organizationId, keyId } = await account(days.map((day) => ({ id: idFrom(day), cost: 1 })));
      let isOver = false;
      let settled = 0;
      const working = (async () => {
        while (!isOver) {
          const id = idFrom(0);
          await admit(organizationId, id, keyId, 10, 60_000);
          await test.database.transaction(async (tx) => {
            await runSql(tx)`
              INSERT INTO settlements SELECT request_id, organization_id, key_id, 3 FROM holds WHERE request_id = ${id}`;
            await runSql(tx)`DELETE FROM holds WHERE request_id = ${id}`;
            await runSql(tx)`
              UPDATE api_keys SET spent_micro_pkr = spent_micro_pkr + 3, held_micro_pkr = held_micro_pkr - 10`;
            await runSql(tx)`
              UPDATE balances SET spent_micro_pkr = spent_micro_pkr + 3, held_micro_pkr = held_micro_pkr - 10`;
          });
          settled += 1;
        }
      })();
      const folding = keep();
      let examinedAmidChanges = 0;
      for (let n = 0; n < 500 && examinedAmidChanges < 20; n += 1) {
        const settledBefore = settled;
        assert.deepEqual(await sentences(), []);
        if (settled > settledBefore) examinedAmidChanges += 1;
      }
      assert.equal(examinedAmidChanges, 20, 'examinations during which a request was settled');
      assert.equal((await folding).length, days.length);
      isOver = true;
      await working;
      assert.deepEqual(await sentences(), []);
    });
  });
});
