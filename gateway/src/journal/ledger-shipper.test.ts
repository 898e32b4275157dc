import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { appendFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { systemClock } from '@gatehouse/concurrency';
import type { Database } from '@gatehouse/store';
import { runSql, useTestDatabase } from '@gatehouse/store/testing';
import { Backlog } from './backlog.ts';
import { FORMAT } from './instance-directory.ts';
import { LedgerShipper } from './ledger-shipper.ts';
import type { Outage } from './outage.ts';
import { encodeLine } from './record-line.ts';
import { Segment } from './segment.ts';
import { books, createAccount, finished, memoryLog, temporaryDirectory } from './testing/fixtures.ts';
import { openTestJournal } from './testing/test-journal.ts';
import { waitUntil, within } from './testing/wait-until.ts';

const test = await useTestDatabase();
const { database } = test;

describe('shipping to the ledger', () => {
  it('settles the others while one settlement is rejected, and that one as soon as it is accepted', async () => {
    await using opened = await openTestJournal(database);
    const { journal, account, sink, lines } = opened;
    const [fullKey = '', otherKey = ''] = account.keyIds;
    const addToFullKey = (microPkr: bigint) =>
      runSql(
        database,
      )`UPDATE api_keys SET spent_micro_pkr = spent_micro_pkr + ${microPkr} WHERE id = ${fullKey}`;
    // One more micro-PKR does not fit into this key's column.
    await addToFullKey(2n ** 63n - 1n);
    const impossible = finished(account, { keyId: fullKey, costMicroPkr: 5n });
    const fine = Array.from({ length: 20 }, () => finished(account, { keyId: otherKey, costMicroPkr: 3n }));
    await Promise.all(
      [...fine.slice(0, 10), impossible, ...fine.slice(10)].map((one) => journal.append(one)),
    );
    const settlements = () =>
      runSql(database)`SELECT FROM settlements WHERE organization_id = ${account.organizationId}`;
    await waitUntil('the other settlements', async () => (await settlements()).length === 20);
    await waitUntil('the rejection in the log', () =>
      lines.some(({ event }) => event === 'journal.settlements_rejected'),
    );
    assert.equal(journal.stats().segments, 1);

    await addToFullKey(-(2n ** 63n - 1n));
    await journal.flush();
    assert.deepEqual(await opened.books(), { spent: 65n, held: 0n, settlements: 21n, holds: 0n });
    assert.equal(sink.rows.length, 21);
    assert.deepEqual(
      lines.map(({ level, settlements, requestIds }) => ({ level, settlements, requestIds })),
      [
        { level: 50, settlements: 1, requestIds: [impossible.requestId] },
        { level: 30, settlements: 1, requestIds: undefined },
      ],
      'logged once, however often it was retried',
    );
  });

  it('keeps the position of a segment before a settlement that is rejected, until it is accepted', async () => {
    await using directory = await temporaryDirectory();
    const account = await createAccount(database, 2);
    const [fullKey = '', otherKey = ''] = account.keyIds;
    const addToFullKey = (microPkr: bigint) =>
      runSql(
        database,
      )`UPDATE api_keys SET spent_micro_pkr = spent_micro_pkr + ${microPkr} WHERE id = ${fullKey}`;
    const segment = new Segment({
      ...{ directory: directory.path, origin: randomUUID(), sequence: 1, isOpen: true },
      ...{ records: 0, length: 0, pendingSinks: ['ledger', 'telemetry'] },
    });
    const backlog = new Backlog();
    backlog.add(segment);
    const shipper = new LedgerShipper({
      ...{ root: directory.path, backlog, database, clock: systemClock, log: memoryLog().log },
      ...{ outage: { isOngoing: false, succeeded: () => undefined } as unknown as Outage },
      ...{ intervalMs: 1, rejectedRetryMs: 0 },
    });
    const ship = async (keyId: string) => {
      const line = encodeLine(finished(account, { keyId, costMicroPkr: 3n }));
      await appendFile(segment.path, line);
      segment.length += Buffer.byteLength(line);
      await shipper.step();
      const rows = await runSql<{ positioned: bigint; bytes: bigint }>(database)`
        SELECT (SELECT count(*) FROM settlements s WHERE s.organization_id = ${account.organizationId} AND is_positioned) AS positioned,
               coalesce(max(settled_bytes), 0) AS bytes FROM journal_positions WHERE origin = ${segment.origin}`;
      return [Number(rows[0]?.positioned), Number(rows[0]?.bytes)];
    };
    const first = await ship(otherKey);
    assert.deepEqual(first, [1, segment.length]);
    await addToFullKey(2n ** 63n - 1n);
    assert.deepEqual(await ship(fullKey), first);
    assert.deepEqual(await ship(otherKey), first);
    await addToFullKey(-(2n ** 63n - 1n));
    // This step reads first, and then retries.
    assert.deepEqual(await ship(otherKey), first);
    assert.deepEqual(await ship(otherKey), [2, segment.length]);
    assert.equal((await books(database, account)).spent, 15n);
  });

  it('settles the intact lines of a damaged segment, and writes a dead letter of the others', async () => {
    const account = await createAccount(database);
    const requests = Array.from({ length: 5 }, () => finished(account, { costMicroPkr: 2n }));
    const text = Buffer.from(requests.map(encodeLine).join(''));
    const length = Buffer.byteLength(encodeLine(requests[0] ?? finished(account)));
    // A power failure can leave a hole, and can lose the end of what was not forced to the disk.
    text.fill(0, length * 2 - 10, length * 2 + 10);
    for (const { bytes, intact } of [
      { bytes: text, intact: [0, 3, 4] },
      { bytes: text.subarray(0, length * 4 + 7), intact: [0, 3] },
      { bytes: text.subarray(0, 0), intact: [] },
    ]) {
      await using directory = await temporaryDirectory();
      const owner = { pid: 1, startedAt: '', world: '', format: FORMAT, isReleased: true };
      const id = randomUUID();
      await mkdir(join(directory.path, id));
      await writeFile(join(directory.path, id, 'owner'), JSON.stringify(owner));
      const name = `${id}.4.5.${text.length}.owes-ledger-telemetry`;
      await writeFile(join(directory.path, id, name), bytes);
      await using opened = await openTestJournal(database, { directory: directory.path });
      const { journal, sink, lines } = opened;
      await journal.append(finished(opened.account));
      await journal.flush();
      assert.deepEqual(
        sink.rows.filter(({ organizationId }) => organizationId === account.organizationId),
        requests.filter((_, n) => intact.includes(n)),
      );
      assert.equal((await opened.books()).settlements, 1n, 'the records after it are settled too');
      const errors = lines.filter(({ level }) => level === 50);
      assert.equal(errors.length, 1);
      assert.equal(errors[0]?.['event'], 'journal.lines_damaged');
      await readFile(String(errors[0]?.['path']));
    }
    assert.equal((await books(database, account)).spent, 6n, 'once each, in whichever files they were');
  });

  it('goes on without a segment that was deleted', async () => {
    await using opened = await openTestJournal(database, {
      isTelemetryUnavailable: true,
      isDatabaseUnavailable: true,
      // Both pause until the flush: one that had just read the segment would still ship it.
      firstRetryMs: 1_000_000,
      lastRetryMs: 1_000_000,
    });
    const { journal, account, sink, gate, directory, events, books } = opened;
    await journal.append(finished(account));
    await waitUntil(
      'both sinks failing',
      () => journal.stats().isTelemetryFailing && journal.stats().isLedgerFailing,
    );
    await rm(directory, { recursive: true });
    sink.failure = undefined;
    gate.isOpen = true;
    await journal.flush();
    assert.ok(events().some(([, event]) => event === 'journal.segment_lost'));
    await journal.append(finished(account));
    await journal.flush();
    assert.equal((await books()).settlements, 1n);
    assert.equal(sink.rows.length, 1);
  });

  it('closes although PostgreSQL does not answer', async () => {
    const asked = Promise.withResolvers<void>();
    const hanging: Database = {
      ...database,
      many: () => {
        asked.resolve();
        return new Promise(() => undefined);
      },
    };
    await using opened = await openTestJournal(database, {
      database: hanging,
      clock: { ...systemClock, sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 5), signal) },
    });
    await opened.journal.append(finished(opened.account));
    await within('a settlement', 30_000, asked.promise);
    await opened.journal[Symbol.asyncDispose]();
    await (await opened.reopen()).flush();
    assert.equal((await opened.books()).settlements, 1n);
  });
});
