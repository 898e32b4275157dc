import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { type NoParameters, sql, statement } from '@gatehouse/store';
import { runSql, useTestDatabase } from '@gatehouse/store/testing';
import { newRequestId } from '../exchange/request-id.ts';
import { settle } from './settle.ts';
import { createAccount, finished, hold } from './testing/fixtures.ts';
import { openTestJournal } from './testing/test-journal.ts';

const DAY_MS = 24 * 60 * 60_000;
const idFrom = (daysAgo: number) => newRequestId(Date.now() - daysAgo * DAY_MS);

const fold = statement<NoParameters, { folded: string | null }>(
  'test-fold',
  sql`SELECT folded FROM fold_settlements()`,
);

const test = await useTestDatabase();
const { database } = test;

describe('a settlement that comes months late', () => {
  before(async () => {
    await runSql(test.owner)`
      WITH bound AS (SELECT settlement_bound(clock_timestamp() - interval '200 days') AS id)
      UPDATE settlement_horizon SET opened_at = bound.id, closed_before = bound.id, folded_until = bound.id, folded_before = bound.id
      FROM bound`;
  });
  const close = (daysAgo: number) =>
    runSql(test.owner)`SELECT close_settlements(clock_timestamp() - make_interval(days => ${daysAgo}))`;

  it('is not counted, because it may have been; it becomes a dead letter, its hold is released, and the others are settled', async () => {
    await using opened = await openTestJournal(database);
    const { journal, account, sink, lines, directory } = opened;
    const late = finished(account, { requestId: idFrom(120), costMicroPkr: 5n, isHeld: true });
    const free = finished(account, { requestId: idFrom(120), costMicroPkr: 0n, isHeld: true });
    const young = finished(account, { requestId: idFrom(10), costMicroPkr: 7n, isHeld: true });
    // An id by chance, but later than any time: one in thirty thousand would be of a week that is closed here.
    const untimed = finished(account, { requestId: `f${randomUUID().slice(1)}`, costMicroPkr: 11n });
    for (const request of [late, free, young]) await hold(database, request, 100n);
    await close(90);

    await Promise.all([late, free, young, untimed].map((request) => journal.append(request)));
    await journal.flush();
    assert.deepEqual(await opened.books(), { spent: 18n, held: 0n, settlements: 2n, holds: 0n });
    assert.equal(sink.rows.length, 4);

    const [file = '', ...others] = await readdir(join(directory, 'rejected'));
    assert.deepEqual(others, []);
    assert.match(file, new RegExp(`\\.${late.requestId}\\.late$`));
    const { requestId, organizationId, keyId } = late;
    const text = await readFile(join(directory, 'rejected', file), 'utf8');
    assert.deepEqual(JSON.parse(text), { requestId, organizationId, keyId, costMicroPkr: '5' });
    const errors = lines.filter(({ level }) => level >= 50);
    assert.deepEqual(
      errors.map(({ settlements, requestIds }) => [settlements, requestIds]),
      [[1, [requestId]]],
    );
  });

  it('counts once if it was settled before its week was folded, and comes again after', async () => {
    const account = await createAccount(database);
    const request = finished(account, { requestId: idFrom(60), costMicroPkr: 5n });
    assert.deepEqual(await settle(database, [request]), []);
    assert.deepEqual(await settle(database, [request]), []);
    await close(50);
    // Closed, and whether it is folded yet or not makes no difference.
    assert.deepEqual(await settle(database, [request]), [request]);
    assert.ok((await foldAll()) > 0);
    assert.deepEqual(await settle(database, [request]), [request]);
    const totals = await runSql(database)`
      SELECT k.spent_micro_pkr AS spent, t.spent_micro_pkr AS folded
      FROM api_keys k JOIN settlement_totals t ON t.key_id = k.id WHERE k.id = ${request.keyId}`;
    assert.deepEqual(totals, [{ spent: 5n, folded: 5n }]);
  });

  it('is either counted or rejected while its week is being closed, never lost', async () => {
    const spentAndRows = statement<{ keyId: string }, { spent: bigint; rows: bigint }>(
      'test-spent-and-rows',
      sql`SELECT k.spent_micro_pkr AS spent,
                 coalesce((SELECT sum(requests) FROM settlement_totals t WHERE t.key_id = k.id), 0)
                 + (SELECT count(*) FROM settlements s WHERE s.key_id = k.id) AS rows
          FROM api_keys k WHERE k.id = ${'keyId'}`,
    );
    // Each round closes a week that is still open.
    for (const daysAgo of [48, 40, 32, 24, 16]) {
      const account = await createAccount(database);
      const newRequests = (count: number) =>
        Array.from({ length: count }, () =>
          finished(account, { requestId: idFrom(daysAgo), costMicroPkr: 1n }),
        );
      const settleEach = async (count: number) =>
        (await Promise.all(newRequests(count).map((request) => settle(database, [request])))).flat().length;

      assert.equal(await settleEach(10), 0, 'none is rejected before');
      const settlingMeanwhile = settleEach(40);
      await close(daysAgo - 7);
      assert.equal(await settleEach(10), 10, 'all are rejected after');
      const folded = await foldAll();
      assert.ok(folded > 0, 'the week was not folded');
      const rejected = 10 + (await settlingMeanwhile);
      const counted = BigInt(60 - rejected);
      const [keyId = ''] = account.keyIds;
      assert.deepEqual(await database.one(spentAndRows, { keyId }), { spent: counted, rows: counted });
    }
  });

  async function foldAll(): Promise<number> {
    for (let folds = 0; folds < 100; folds += 1) if (!(await database.one(fold))?.folded) return folds;
    return assert.fail('a hundred folds leave something to fold');
  }
});
