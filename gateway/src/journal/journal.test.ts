import assert from 'node:assert/strict';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { useTestDatabase } from '@gatehouse/store/testing';
import { finished, hold } from './testing/fixtures.ts';
import { openTestJournal } from './testing/test-journal.ts';
import { waitUntil } from './testing/wait-until.ts';

const test = await useTestDatabase();
const { database } = test;

describe('the journal', () => {
  it('settles the cost, releases the hold and ships the row, once, and leaves nothing on disk', async () => {
    await using opened = await openTestJournal(database);
    const { journal, account, sink, directory, books } = opened;
    const request = finished(account, { costMicroPkr: 700n, isHeld: true });
    await hold(database, request, 1_000n);
    const other = finished(account, { keyId: account.keyIds[1] ?? '', costMicroPkr: 50n });
    await journal.append(request);
    await journal.append(other);
    await journal.flush();
    assert.deepEqual(await books(), { spent: 750n, held: 0n, settlements: 2n, holds: 0n });
    assert.deepEqual(sink.rows, [request, other]);
    const { ledgerBacklog, telemetryBacklog, segments, bytes, appended } = journal.stats();
    assert.deepEqual([ledgerBacklog, telemetryBacklog, segments, bytes, appended], [0, 0, 0, 0, 2]);
    await journal[Symbol.asyncDispose]();
    assert.deepEqual(await readdir(directory), []);
  });

  it('ships rejected requests to telemetry without a settlement, and releases a hold that cost nothing', async () => {
    await using opened = await openTestJournal(database);
    const { journal, account, sink, books } = opened;
    const free = finished(account, { costMicroPkr: 0n, isHeld: true });
    await hold(database, free, 900n);
    await journal.append(
      finished(account, { costMicroPkr: 0n, status: 429, refusal: 'rate_limit_exceeded' }),
    );
    await journal.append(free);
    await journal.flush();
    assert.deepEqual(await books(), { spent: 0n, held: 0n, settlements: 1n, holds: 0n });
    assert.equal(sink.rows.length, 2);
  });

  it('counts a request once that is recorded twice, in one segment and across segments', async () => {
    await using opened = await openTestJournal(database);
    const { journal, account, books } = opened;
    const request = finished(account, { costMicroPkr: 5n });
    await Promise.all([journal.append(request), journal.append(request)]);
    await journal.flush();
    await journal.append(request);
    await journal.flush();
    assert.deepEqual(await books(), { spent: 5n, held: 0n, settlements: 1n, holds: 0n });
  });

  it('settles at once while telemetry is unavailable, in few segments, and catches up afterwards', async () => {
    await using opened = await openTestJournal(database, { isTelemetryUnavailable: true });
    const { journal, account, sink, books, events } = opened;
    for (let n = 1; n <= 50; n += 1) {
      await journal.append(finished(account, { costMicroPkr: 1n }));
      await waitUntil('the settlement', async () => (await books()).spent === BigInt(n));
    }
    assert.ok(journal.stats().segments <= 2, `${journal.stats().segments} segments`);
    // The database shows the last one before the shipper has the answer to its commit.
    await waitUntil('an empty ledger backlog', () => journal.stats().ledgerBacklog === 0);
    assert.equal(journal.stats().telemetryBacklog, 50);
    assert.equal(journal.stats().isTelemetryFailing, true);
    const insertsBefore = sink.inserts;
    await waitUntil('more inserts', () => sink.inserts > insertsBefore + 2);
    sink.failure = undefined;
    await journal.flush();
    assert.equal(new Set(sink.requestIds).size, 50);
    assert.equal(sink.rows.length, 50);
    assert.deepEqual(events(), [
      ['error', 'journal.telemetry_failing'],
      ['info', 'journal.telemetry_recovered'],
    ]);
  });

  it('ships to telemetry at once while PostgreSQL is unavailable, and settles afterwards', async () => {
    await using opened = await openTestJournal(database, { isDatabaseUnavailable: true });
    const { journal, account, sink, gate, books, events } = opened;
    for (let n = 1; n <= 50; n += 1) {
      await journal.append(finished(account, { costMicroPkr: 1n }));
      await waitUntil('the row', () => sink.rows.length === n);
    }
    assert.deepEqual(await books(), { spent: 0n, held: 0n, settlements: 0n, holds: 0n });
    await waitUntil('an empty telemetry backlog', () => journal.stats().telemetryBacklog === 0);
    gate.isOpen = true;
    await journal.flush();
    assert.deepEqual(await books(), { spent: 50n, held: 0n, settlements: 50n, holds: 0n });
    assert.equal(sink.rows.length, 50);
    assert.deepEqual(
      events().filter(([, event]) => event.startsWith('journal.ledger')),
      [
        ['error', 'journal.ledger_failing'],
        ['info', 'journal.ledger_recovered'],
      ],
    );
  });

  it('inserts the same rows under the same token until the answer arrives', async () => {
    await using opened = await openTestJournal(database);
    const { journal, account, sink } = opened;
    sink.lostAnswer = new Error('the connection broke after the insert');
    await journal.append(finished(account));
    await waitUntil('three inserts', () => sink.inserts >= 3);
    sink.lostAnswer = undefined;
    await journal.flush();
    assert.equal(sink.rows.length, 1);
    assert.equal(sink.batches.size, 1);
  });

  it('gives up on a telemetry store that does not answer in time, and tries again', async () => {
    let hangs = true;
    let inserts = 0;
    await using opened = await openTestJournal(database, {
      telemetryTimeoutMs: 5,
      shipTelemetry: async () => {
        if (hangs) await new Promise(() => undefined);
        inserts += 1;
      },
    });
    const { journal, account } = opened;
    await journal.append(finished(account));
    await waitUntil('a failing insert', () => journal.stats().isTelemetryFailing);
    hangs = false;
    await journal.flush();
    assert.equal(inserts, 1);
  });

  it('seals at the limits, and ships segments in order', async () => {
    await using opened = await openTestJournal(database, {
      isTelemetryUnavailable: true,
      maxSegmentRecords: 10,
    });
    const { journal, account, sink, books } = opened;
    const requests = Array.from({ length: 95 }, () => finished(account));
    for (const request of requests) await journal.append(request);
    await waitUntil('ten segments', () => journal.stats().segments >= 10);
    sink.failure = undefined;
    await journal.flush();
    assert.deepEqual(sink.rows, requests);
    assert.deepEqual(await books(), { spent: 95_000n, held: 0n, settlements: 95n, holds: 0n });
  });

  it('closes within its time limit while a store is unavailable, and the next start ships the rest', async () => {
    await using opened = await openTestJournal(database, {
      isTelemetryUnavailable: true,
      isDatabaseUnavailable: true,
      flushTimeoutMs: 20,
    });
    const { journal, account, sink, directory, books, events } = opened;
    await journal.append(finished(account));
    await journal[Symbol.asyncDispose]();
    assert.ok(events().some(([, event]) => event === 'journal.closed_with_backlog'));
    await assert.rejects(journal.append(finished(account)), /closed/);

    const next = await opened.reopen();
    await next.flush();
    assert.equal(sink.rows.length, 1);
    assert.deepEqual(await books(), { spent: 1_000n, held: 0n, settlements: 1n, holds: 0n });
    assert.equal((await readdir(directory)).length, 1, 'only the directory of the journal that is open');
  });

  it('settles more requests than one transaction holds', async () => {
    await using opened = await openTestJournal(database);
    const { journal, account, sink, books } = opened;
    const requests = Array.from({ length: 2_500 }, (_, n) =>
      finished(account, { keyId: account.keyIds[n % 2] ?? '', costMicroPkr: 2n }),
    );
    await Promise.all(requests.map((request) => journal.append(request)));
    await journal.flush();
    assert.deepEqual(await books(), { spent: 5_000n, held: 0n, settlements: 2_500n, holds: 0n });
    assert.deepEqual(sink.requestIds, requests.map(({ requestId }) => requestId).sort());
  });

  it('makes files that other users of the machine cannot read', async () => {
    await using opened = await openTestJournal(database, {
      isTelemetryUnavailable: true,
      isDatabaseUnavailable: true,
      flushTimeoutMs: 1,
    });
    const { journal, account, directory } = opened;
    await journal.append(finished(account));
    // It was sealed before the insert, and no sink acknowledges it: no file is renamed during the look.
    await waitUntil('a failing insert', () => journal.stats().isTelemetryFailing);
    for (const name of await readdir(directory)) {
      assert.equal((await stat(join(directory, name))).mode & 0o777, 0o700);
      for (const file of await readdir(join(directory, name))) {
        const { mode } = await stat(join(directory, name, file));
        assert.equal(mode & 0o777, 0o600, file);
      }
    }
  });
});
