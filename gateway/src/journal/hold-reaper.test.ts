import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Database } from '@gatehouse/store';
import { runSql, useTestDatabase } from '@gatehouse/store/testing';
import { HoldReaper } from './hold-reaper.ts';
import { settle } from './settle.ts';
import { books, createAccount, finished, gated, hold, memoryLog } from './testing/fixtures.ts';

const test = await useTestDatabase();
const { database } = test;

describe('the reaper of holds', () => {
  const newReaper = (options: Partial<ConstructorParameters<typeof HoldReaper>[0]> = {}) =>
    new HoldReaper({
      database,
      log: memoryLog().log,
      intervalMs: 30_000,
      isLedgerBehind: () => false,
      ...options,
    });

  it('releases what is past its deadline and nothing else, and says how much', async () => {
    const account = await createAccount(database);
    const [firstKey = '', secondKey = ''] = account.keyIds;
    for (let n = 0; n < 600; n += 1) {
      await hold(database, finished(account, { keyId: n % 2 ? firstKey : secondKey }), 10n, -1);
    }
    await hold(database, finished(account, { keyId: firstKey }), 7n);
    const { log, lines } = memoryLog();
    const reaper = newReaper({ log });
    await reaper.step();
    assert.equal(
      (await books(database, account)).holds,
      601n,
      'the first step only sees that PostgreSQL is there',
    );
    await reaper.step();
    assert.deepEqual(await books(database, account), { spent: 0n, held: 7n, settlements: 0n, holds: 1n });
    assert.deepEqual(
      lines.map(({ level, holds, amountMicroPkr }) => ({ level, holds, amountMicroPkr })),
      [{ level: 40, holds: 600, amountMicroPkr: '6000' }],
    );
    assert.equal(reaper.released, 600);
  });

  it('lets a settlement that comes later count its cost once', async () => {
    const account = await createAccount(database);
    const request = finished(account, { costMicroPkr: 4n, isHeld: true });
    await hold(database, request, 10n, -1);
    const reaper = newReaper();
    await reaper.step();
    await reaper.step();
    await settle(database, [request]);
    await settle(database, [request]);
    assert.deepEqual(await books(database, account), { spent: 4n, held: 0n, settlements: 1n, holds: 0n });
  });

  // A step reaps if PostgreSQL answered in the step before and the node's ledger was behind in neither.
  for (const { title, steps } of [
    { title: 'at the second step of two', steps: ['ready', 'ready reaps'] },
    { title: 'one step after the ledger has caught up', steps: ['behind', 'behind', 'ready', 'ready reaps'] },
    {
      title: 'not when the ledger falls behind between two steps',
      steps: ['ready', 'behind', 'ready', 'ready reaps'],
    },
    {
      title: 'one step after an outage of PostgreSQL',
      steps: ['ready', 'outage', 'ready', 'ready reaps'],
    },
    {
      title: 'not when the ledger falls behind during a step',
      steps: ['falls behind', 'ready', 'ready reaps'],
    },
  ]) {
    it(`reaps ${title}`, async () => {
      const account = await createAccount(database);
      await hold(database, finished(account), 10n, -1);
      const gate = gated(database);
      let isLedgerBehind = false;
      let fallsBehind = false;
      const watched: Database = {
        ...gate,
        one: async (...call) => {
          const row = await gate.one(...call);
          isLedgerBehind ||= fallsBehind;
          return row;
        },
      };
      const reaper = newReaper({ database: watched, isLedgerBehind: () => isLedgerBehind });
      for (const [n, step] of steps.entries()) {
        isLedgerBehind = step === 'behind';
        fallsBehind = step === 'falls behind';
        gate.isOpen = step !== 'outage';
        await (step === 'outage' ? assert.rejects(reaper.step()) : reaper.step());
        const { held } = await books(database, account);
        assert.equal(held, step.endsWith('reaps') ? 0n : 10n, `step ${n + 1}: ${step}`);
      }
    });
  }

  it('releases each hold once on several nodes at once', async () => {
    const account = await createAccount(database);
    for (let n = 0; n < 60; n += 1) await hold(database, finished(account), 10n, -1);
    await hold(database, finished(account), 7n);
    const reapers = [newReaper(), newReaper(), newReaper()];
    await Promise.all(reapers.map((reaper) => reaper.step()));
    await Promise.all(reapers.map((reaper) => reaper.step()));
    assert.equal(
      reapers.reduce((sum, { released }) => sum + released, 0),
      60,
    );
    assert.deepEqual(await books(database, account), { spent: 0n, held: 7n, settlements: 0n, holds: 1n });
  });

  it('skips a hold that a settlement has locked', async () => {
    const account = await createAccount(database);
    const request = finished(account, { isHeld: true });
    await hold(database, request, 10n, -1);
    await hold(database, finished(account), 3n, -1);
    const reaper = newReaper();
    await reaper.step();
    await database.transaction(async (tx) => {
      await runSql(tx)`SELECT FROM holds WHERE request_id = ${request.requestId} FOR UPDATE`;
      await reaper.step();
      assert.equal(reaper.released, 1);
    });
    await reaper.step();
    assert.equal(reaper.released, 2);
    assert.equal((await books(database, account)).held, 0n);
  });
});
