import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openDatabase, type Queryable } from '@gatehouse/store';
import { rawSql, runSql, useTestDatabase } from '@gatehouse/store/testing';
import { untilLockWait } from '../testing/lock-wait.ts';
import { releaseOverdueHolds, settle } from './settle.ts';
import { books, createAccount, finished, hold } from './testing/fixtures.ts';

const test = await useTestDatabase();
const { database } = test;

describe('settling', () => {
  it('counts each request once while admissions, repeats and the reaper change the same rows', async () => {
    const accounts = [await createAccount(database, 3), await createAccount(database, 3)];
    const requests = Array.from({ length: 400 }, (_, n) => {
      const account = accounts[n % 2];
      assert.ok(account);
      const keyId = account.keyIds[n % 3] ?? '';
      return finished(account, { keyId, costMicroPkr: BigInt(n), isHeld: true });
    });
    // A tenth of the holds is overdue from the start, so the reaper and the settlements compete for them.
    const isOverdue = (n: number) => n % 10 === 0;
    const first = requests.slice(0, 40);
    const makeHold = (request: (typeof requests)[number], n: number) =>
      hold(database, request, 1_000n, isOverdue(n) ? -1 : 60_000);
    await Promise.all(
      requests.map((request, n) => (n < 40 || isOverdue(n) ? makeHold(request, n) : undefined)),
    );
    assert.equal((await releaseOverdueHolds(database, 10)).holds, 10);

    // The reaper acts while a settlement has locked the accounts.
    let racing: ReturnType<typeof releaseOverdueHolds> | undefined;
    await database.transaction(async (tx) => {
      await settle(tx, first);
      racing = releaseOverdueHolds(database, 10);
      await untilLockWait(test.owner);
    });
    assert.equal((await racing)?.holds, 10, 'the settlements release the other half of 40 overdue holds');

    const admissions = requests.map((request, n) =>
      n < 40 || isOverdue(n) ? undefined : makeHold(request, n),
    );
    const settlers = [0, 1, 2].map(async (settler) => {
      for (let from = 0; from < requests.length; from += 40) {
        await Promise.all(admissions.slice(from, from + 40));
        const batch = requests.slice(from, from + 40);
        // In different orders: the statements must bring them into one.
        await settle(database, settler === 0 ? batch : batch.toReversed());
      }
    });
    await Promise.all(settlers);

    for (const [index, account] of accounts.entries()) {
      const own = requests.filter((_, n) => n % 2 === index);
      const spent = own.reduce((sum, { costMicroPkr }) => sum + costMicroPkr, 0n);
      assert.deepEqual(await books(database, account), { spent, held: 0n, settlements: 200n, holds: 0n });
    }
  });

  it('commits to the disk of the server although the session would not', async () => {
    const account = await createAccount(database);
    const settingOf = async (connection: Queryable) => {
      const [row] = await runSql<{ setting: string }>(connection)`
        SELECT current_setting('synchronous_commit') AS setting`;
      return row?.setting;
    };
    await runSql(test.owner)`ALTER DATABASE ${rawSql(test.address.database)} SET synchronous_commit = off`;
    await using lazy = openDatabase(test.address, { poolSize: 1 });
    assert.equal(await settingOf(lazy), 'off');
    await lazy.transaction(async (tx) => {
      await settle(tx, [finished(account)]);
      assert.equal(await settingOf(tx), 'on');
    });
    assert.equal(await settingOf(lazy), 'off', 'for that transaction only');
  });
});
