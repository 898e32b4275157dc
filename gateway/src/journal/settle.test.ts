import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Database, openDatabase, statement } from '@gatehouse/store';
import { createTestDatabase, type TestDatabase } from '@gatehouse/store/testing';
import { releaseOverdueHolds, settle } from './settle.ts';
import { books, createAccount, finished, hold } from './testing/fixtures.ts';

describe('settling', () => {
  let test: TestDatabase;
  let database: Database;
  before(async () => {
    test = await createTestDatabase();
    database = test.database;
  });
  after(() => test[Symbol.asyncDispose]());

  it('counts each request once while admissions, repeats and the reaper are at the same rows', async () => {
    const accounts = [await createAccount(database, 3), await createAccount(database, 3)];
    const requests = Array.from({ length: 400 }, (_, n) => {
      const account = accounts[n % 2];
      assert.ok(account);
      const keyId = account.keyIds[n % 3] ?? '';
      return finished(account, { keyId, costMicroPkr: BigInt(n), isHeld: true });
    });
    // A tenth of the holds is overdue from the start, so that the reaper and the settlements want the same ones.
    const admissions = requests.map((request, n) =>
      hold(database, request, 1_000n, n % 10 === 0 ? -1 : 60_000),
    );
    const settlers = [0, 1, 2].map(async (settler) => {
      for (let from = 0; from < requests.length; from += 40) {
        await Promise.all(admissions.slice(from, from + 40));
        const batch = requests.slice(from, from + 40);
        // Each settler in an order of its own: it is the statements that must keep to one order.
        await settle(database, settler === 0 ? batch : batch.toReversed());
      }
    });
    let isReaping = true;
    const reaper = (async () => {
      while (isReaping) await releaseOverdueHolds(database, 7);
    })();
    await Promise.all(settlers);
    isReaping = false;
    await reaper;

    for (const [index, account] of accounts.entries()) {
      const own = requests.filter((_, n) => n % 2 === index);
      const spent = own.reduce((sum, { costMicroPkr }) => sum + costMicroPkr, 0n);
      assert.deepEqual(await books(database, account), { spent, held: 0n, settlements: 200n, holds: 0n });
    }
  });

  it('waits for the disk of the server although the session would not', async () => {
    const account = await createAccount(database);
    const setting = statement<{ setting: string }>(
      'test-synchronous-commit',
      `SELECT current_setting('synchronous_commit') AS setting`,
    );
    await test.owner.run(
      statement('test-make-lazy', `ALTER DATABASE ${test.address.database} SET synchronous_commit = off`),
    );
    await using lazy = openDatabase(test.address, { poolSize: 1 });
    assert.equal((await lazy.one(setting))?.setting, 'off');
    const seen: (string | undefined)[] = [];
    const watched: Database = {
      ...lazy,
      transaction: (work) =>
        lazy.transaction(async (tx) => {
          const result = await work(tx);
          seen.push((await tx.one(setting))?.setting);
          return result;
        }),
    };
    await settle(watched, [finished(account)]);
    assert.deepEqual(seen, ['on']);
    assert.equal((await lazy.one(setting))?.setting, 'off', 'for that transaction only');
  });
});
