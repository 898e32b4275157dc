import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { before, describe, it } from 'node:test';
import { runSql, useTestDatabase } from '@gatehouse/store/testing';
import { newRequestId } from '../exchange/request-id.ts';
import { settle, settlementOf, settleOverdueHolds } from './settle.ts';
import { type Account, books, createAccount, finished, hold } from './testing/fixtures.ts';

const HOUR_MS = 60 * 60_000;
const test = await useTestDatabase();
const { database } = test;

describe('a settlement that was folded', () => {
  before(async () => {
    await runSql(test.owner)`
      WITH bound AS (SELECT settlement_bound(clock_timestamp() - interval '30 days') AS id)
      UPDATE settlement_horizon
      SET opened_at = bound.id, closed_before = bound.id, folded_until = bound.id, folded_before = bound.id FROM bound`;
  });
  const madeHoursAgo = (account: Account, hours: number, costMicroPkr = 5n) =>
    finished(account, { requestId: newRequestId(Date.now() - hours * HOUR_MS), costMicroPkr });
  const ofOne = (request: Parameters<typeof settlementOf>[0]) => {
    const settlement = settlementOf(request);
    return settlement ? [settlement] : assert.fail('it costs nothing');
  };
  const from = (origin: string, end: number, settledBytes?: number) => ({
    places: [{ origin, sequence: 1, end }],
    settled: settledBytes === undefined ? [] : [{ origin, sequence: 1, settledBytes }],
  });
  /** As the service does, until nothing is left; from the beginning, because tests settle old requests. */
  const fold = async () => {
    await runSql(test.owner)`UPDATE settlement_horizon SET folded_until = opened_at`;
    let folded = 0n;
    for (let calls = 0; calls < 100; calls += 1) {
      const [row] = await runSql<{ requests: bigint; isDone: boolean }>(database)`
        SELECT requests, is_done FROM fold_settled_requests()`;
      folded += row?.requests ?? 0n;
      if (row?.isDone) return folded;
    }
    return assert.fail('a hundred calls leave something to fold');
  };
  const rowsOf = async (account: Account) => (await books(database, account)).settlements;

  it('is a row for six hours, and is then in the sums of its key', async () => {
    const account = await createAccount(database);
    const [young, old] = [madeHoursAgo(account, 5), madeHoursAgo(account, 8, 7n)];
    await settle(database, ofOne(young), from(randomUUID(), 100, 100));
    await settle(database, ofOne(old), from(randomUUID(), 100, 100));
    assert.equal(await fold(), 1n);
    assert.deepEqual(await books(database, account), { spent: 12n, held: 0n, settlements: 1n, holds: 0n });
    const totals = await runSql(database)`
      SELECT spent_micro_pkr AS spent, requests FROM settlement_totals WHERE key_id = ${old.keyId}`;
    assert.deepEqual(totals, [{ spent: 7n, requests: 1n }]);
  });

  it('is folded once by several nodes at once', async () => {
    const account = await createAccount(database);
    const requests = Array.from({ length: 60 }, (_, n) => madeHoursAgo(account, 8 + n / 60, 3n));
    const origin = randomUUID();
    await settle(database, requests.flatMap(ofOne), {
      places: requests.map((_, n) => ({ origin, sequence: 1, end: 100 * (n + 1) })),
      settled: [{ origin, sequence: 1, settledBytes: 6_000 }],
    });
    await runSql(test.owner)`UPDATE settlement_horizon SET folded_until = opened_at`;
    const foldOn = async () => {
      let folded = 0n;
      for (let calls = 0; calls < 100; calls += 1) {
        const [row] = await runSql<{ requests: bigint; isDone: boolean }>(database)`
          SELECT requests, is_done FROM fold_settled_requests()`;
        folded += row?.requests ?? 0n;
        if (row?.isDone) return folded;
      }
      return assert.fail('a hundred calls leave something to fold');
    };
    const folded = await Promise.all([foldOn(), foldOn(), foldOn()]);
    assert.equal(
      folded.reduce((sum, one) => sum + one, 0n),
      60n,
    );
    const totals = await runSql(database)`
      SELECT spent_micro_pkr AS spent, requests FROM settlement_totals WHERE key_id = ${account.keyIds[0] ?? ''}`;
    assert.deepEqual(totals, [{ spent: 180n, requests: 60n }]);
    assert.equal((await books(database, account)).spent, 180n);
  });

  it('is recognised by its position, and a record behind the position is counted', async () => {
    const account = await createAccount(database);
    const origin = randomUUID();
    const [first, second] = [madeHoursAgo(account, 20), madeHoursAgo(account, 20)];
    await settle(database, ofOne(first), from(origin, 100, 100));
    assert.equal(await fold(), 1n);
    // The segment is read again, by one that knows of no position, with a record that was appended since.
    await settle(database, [...ofOne(first), ...ofOne(second)], {
      places: [100, 200].map((end) => ({ origin, sequence: 1, end })),
      settled: [{ origin, sequence: 1, settledBytes: 200 }],
    });
    await settle(database, ofOne(second), from(origin, 200, 200));
    assert.equal(await fold(), 1n);
    await settle(database, ofOne(second), from(origin, 200, 150));
    await settle(database, ofOne(second), from(origin, 200, 200));
    assert.equal((await books(database, account)).spent, 10n);
    // Of another segment of that origin nothing is known.
    const other = madeHoursAgo(account, 20);
    await settle(database, ofOne(other), { places: [{ origin, sequence: 2, end: 50 }], settled: [] });
    assert.equal((await books(database, account)).spent, 15n);
  });

  it('keeps its row where no position covers it', async () => {
    const account = await createAccount(database);
    const [alone, kept] = [madeHoursAgo(account, 20), madeHoursAgo(account, 20)];
    // From a gateway of the version before, and of a segment with a settlement that is retried.
    await runSql(test.owner)`
      INSERT INTO settlements (request_id, organization_id, key_id, cost_micro_pkr)
      VALUES (${alone.requestId}, ${alone.organizationId}, ${alone.keyId}, 0)`;
    await settle(database, ofOne(kept), from(randomUUID(), 100));
    assert.equal(await fold(), 0n);
    assert.equal(await rowsOf(account), 2n);
    for (const request of [alone, kept]) await settle(database, ofOne(request), from(randomUUID(), 100, 100));
    assert.equal((await books(database, account)).spent, 5n);
  });

  it('is counted by one of two processes that read the same segment', async () => {
    const account = await createAccount(database);
    for (let round = 0; round < 10; round += 1) {
      const origin = randomUUID();
      const requests = Array.from({ length: 20 }, () => madeHoursAgo(account, 20, 1n));
      const source = {
        places: requests.map((_, index) => ({ origin, sequence: 1, end: index + 1 })),
        settled: [{ origin, sequence: 1, settledBytes: requests.length }],
      };
      const settlements = requests.flatMap(ofOne);
      await Promise.all([1, 2, 3].map(() => settle(database, settlements, source).then(fold)));
      await settle(database, settlements, source);
      assert.equal((await books(database, account)).spent, BigInt(20 * (round + 1)));
    }
  });

  it('is not settled again by the reaper, which settles what still has its hold', async () => {
    const account = await createAccount(database);
    const [settled, unsettled] = [madeHoursAgo(account, 20), madeHoursAgo(account, 20, 7n)];
    for (const request of [settled, unsettled]) await hold(database, request, request.costMicroPkr, -1);
    await runSql(test.owner)`
      WITH ended AS (UPDATE holds SET is_final = true WHERE organization_id = ${account.organizationId} RETURNING amount_micro_pkr),
      key AS (UPDATE api_keys SET unsettled_micro_pkr = (SELECT sum(amount_micro_pkr) FROM ended) WHERE id = ${settled.keyId})
      UPDATE balances SET unsettled_micro_pkr = (SELECT sum(amount_micro_pkr) FROM ended) WHERE organization_id = ${account.organizationId}`;
    const listed = [...ofOne(settled), ...ofOne(unsettled)];
    await settle(database, ofOne(settled), from(randomUUID(), 100, 100));
    assert.equal(await fold(), 1n);
    // It was listed before.
    await settle(database, listed);
    assert.deepEqual((await settleOverdueHolds(database, 10)).overdue, []);
    const { spent, held, holds } = await books(database, account);
    assert.deepEqual([spent, held, holds], [12n, 0n, 0n]);
    // What the reaper settled is recognised when its record comes.
    assert.equal(await fold(), 0n);
    await settle(database, ofOne(unsettled), from(randomUUID(), 100, 100));
    assert.equal((await books(database, account)).spent, 12n);
  });
});
