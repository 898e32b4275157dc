import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KeyId } from '@gatehouse/contract';
import { type Database, sql, statement } from '@gatehouse/store';
import { useTestDatabase } from '@gatehouse/store/testing';
import { newRequestId } from '../exchange/request-id.ts';
import { HoldReaper } from '../journal/hold-reaper.ts';
import { releaseOverdueHolds, settle, settleOverdueHolds } from '../journal/settle.ts';
import { type Account, books, createAccount, memoryLog } from '../journal/testing/fixtures.ts';
import { randomFrom } from '../journal/testing/random.ts';
import {
  type AdmissionOfOne as Admission,
  admit,
  type FinishedOfOne as FinishedHold,
} from '../testing/admit.ts';
import { untilLockWait } from '../testing/lock-wait.ts';

const unsettled = statement<{ keyId: KeyId }, { key: bigint; organization: bigint }>(
  'test-unsettled',
  sql`
    SELECT k.unsettled_micro_pkr AS key, b.unsettled_micro_pkr AS organization
    FROM api_keys k JOIN balances b USING (organization_id) WHERE k.id = ${'keyId'}`,
);

const test = await useTestDatabase();
const { database } = test;

describe('the hold of a request that has finished', () => {
  let account: Account;

  const request = (amount: bigint, given: Partial<Admission> = {}): Admission => ({
    requestId: newRequestId(Date.now()),
    keyId: account.keyIds[0] as KeyId,
    leastMicroPkr: amount,
    mostMicroPkr: amount,
    isByok: false,
    holdMs: 90_000,
    ...given,
  });
  const held = async (amount: bigint, given: Partial<Admission> = {}): Promise<Admission> => {
    account = await createAccount(database);
    const made = request(amount, given);
    const [decision] = await admit(database, account.organizationId, [made]);
    assert.equal(decision?.kind, 'admitted');
    return made;
  };
  const finish = (...finished: FinishedHold[]) => admit(database, account.organizationId, [], finished);
  const settlement = ({ requestId, keyId }: Admission, costMicroPkr: bigint) => ({
    requestId,
    keyId,
    organizationId: account.organizationId,
    costMicroPkr,
  });
  /** The amounts that are spent, held, and final of the held ones; every sum compared with its rows. */
  const money = async () => {
    const { spent, held: all } = await books(database, account);
    const row = await database.one(unsettled, { keyId: account.keyIds[0] as KeyId });
    assert.equal(row?.key, row?.organization);
    return [spent, all, row?.key];
  };

  it('is lowered to what it cost, once, and settling turns that into spend', async () => {
    const made = await held(100n);
    assert.deepEqual(await money(), [0n, 100n, 0n]);
    for (let n = 0; n < 2; n += 1) {
      await finish({ requestId: made.requestId, costMicroPkr: 30n });
      assert.deepEqual(await money(), [0n, 30n, 30n]);
    }
    await settle(database, [settlement(made, 30n)]);
    assert.deepEqual(await money(), [30n, 0n, 0n]);
    await finish({ requestId: made.requestId, costMicroPkr: 30n });
    assert.deepEqual(await money(), [30n, 0n, 0n]);
  });

  it('is released wholly where the request cost nothing, and raised where it cost more', async () => {
    const free = await held(100n);
    const dear = request(100n);
    await admit(database, account.organizationId, [dear]);
    await finish(
      { requestId: dear.requestId, costMicroPkr: 130n },
      { requestId: free.requestId, costMicroPkr: 0n },
    );
    assert.deepEqual(await money(), [0n, 130n, 130n]);
    await settle(database, [settlement(free, 0n), settlement(dear, 130n)]);
    assert.deepEqual(await money(), [130n, 0n, 0n]);
  });

  it('is left alone once it was settled, once it was released at its deadline, and in another organisation', async () => {
    const settled = await held(100n);
    await settle(database, [settlement(settled, 30n)]);
    await finish({ requestId: settled.requestId, costMicroPkr: 30n });
    assert.deepEqual(await money(), [30n, 0n, 0n]);

    const overdue = await held(100n, { holdMs: -1 });
    await releaseOverdueHolds(database, 10);
    await finish({ requestId: overdue.requestId, costMicroPkr: 30n });
    assert.deepEqual(await money(), [0n, 0n, 0n]);
    await settle(database, [settlement(overdue, 30n)]);
    assert.deepEqual(await money(), [30n, 0n, 0n]);

    const other = await held(100n);
    const owner = account;
    await held(5n);
    await finish({ requestId: other.requestId, costMicroPkr: 30n });
    assert.deepEqual(await money(), [0n, 5n, 0n]);
    account = owner;
    assert.deepEqual(await money(), [0n, 100n, 0n]);
  });

  it('is settled at its deadline and not released: what it cost stays spent, and its record counts no more', async () => {
    const made = await held(100n, { holdMs: -1 });
    const later = request(50n);
    await admit(database, account.organizationId, [later]);
    const finished = [made, later].map(({ requestId }) => ({ requestId, costMicroPkr: 30n }));
    await finish(...finished);
    const { log, lines } = memoryLog();
    const reaper = new HoldReaper({ database, log, intervalMs: 30_000, isLedgerBehind: () => false });
    await reaper.step();
    await reaper.step();
    assert.deepEqual(await money(), [30n, 30n, 30n]);
    assert.equal(reaper.released, 0);
    assert.deepEqual(
      lines.map(({ level, requests }) => ({ level, requests })),
      [{ level: 40, requests: 1 }],
    );
    await finish(...finished);
    await settle(database, [settlement(made, 30n), settlement(later, 30n)]);
    assert.deepEqual(await money(), [60n, 0n, 0n]);
  });

  it('is settled for what it was lowered to, where that waits for the lowering to commit, and the other way round', async () => {
    for (const first of ['finish', 'settle'] as const) {
      const made = await held(100n);
      const finished = { requestId: made.requestId, costMicroPkr: 30n };
      let second: Promise<unknown> | undefined;
      // The one is done and not committed when the other comes to the hold.
      if (first === 'finish') {
        await database.transaction(async (tx) => {
          await admit(tx, account.organizationId, [], [finished]);
          second = settle(database, [settlement(made, 30n)]);
          await untilLockWait(test.owner);
        });
      } else {
        const interrupted: Database = {
          ...database,
          transaction: (work) =>
            database.transaction(async (tx) => {
              const result = await work(tx);
              second = finish(finished);
              await untilLockWait(test.owner);
              return result;
            }),
        };
        await settle(interrupted, [settlement(made, 30n)]);
      }
      await second;
      assert.deepEqual(await money(), [30n, 0n, 0n], first);
    }
  });

  it('does not deadlock with admissions, settlements and the reaper, which take the same rows in any order', async () => {
    account = await createAccount(database, 4);
    const random = randomFrom(5);
    const shuffled = <T>(list: readonly T[]) =>
      list
        .map((item) => ({ item, at: random() }))
        .toSorted((a, b) => a.at - b.at)
        .map(({ item }) => item);
    const keyId = () => shuffled(account.keyIds)[0] as KeyId;
    let made = 0;
    const worker = async () => {
      for (let round = 0; round < 12; round += 1) {
        const batch = Array.from({ length: 8 }, (_, n) =>
          request(10n, { keyId: keyId(), holdMs: n === 0 ? -1 : 90_000 }),
        );
        made += batch.length;
        await admit(database, account.organizationId, batch);
        const finished = (some: readonly Admission[]) =>
          some.map(({ requestId }) => ({ requestId, costMicroPkr: 3n }));
        await Promise.all([
          admit(database, account.organizationId, [], finished(shuffled(batch))),
          admit(database, account.organizationId, [], finished(shuffled(batch))),
          settle(
            database,
            shuffled(batch).map((one) => settlement(one, 3n)),
          ),
          releaseOverdueHolds(database, 5),
          settleOverdueHolds(database, 5),
        ]);
      }
    };
    await Promise.all([worker(), worker(), worker()]);
    assert.deepEqual(await money(), [BigInt(3 * made), 0n, 0n]);
  });
});
