import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { useTestDatabase } from '@gatehouse/store/testing';
import type { FinishedRequest } from './finished-request.ts';
import { decodeLines } from './record-line.ts';
import { finished, TestProcesses } from './testing/fixtures.ts';
import { openTestJournal } from './testing/test-journal.ts';
import { waitUntil } from './testing/wait-until.ts';

const isRejected = ({ userAgent }: FinishedRequest) => userAgent === 'rejected';

const { database } = await useTestDatabase();

describe('telemetry that rejects rows', () => {
  it('gets all others; the rejected ones become dead letters with an error in the log, and are settled', async () => {
    await using opened = await openTestJournal(database);
    const { journal, account, sink, lines, books } = opened;
    sink.rejects = isRejected;
    const requests = Array.from({ length: 300 }, (_, n) =>
      finished(account, {
        costMicroPkr: 1n,
        userAgent: n === 0 || n === 137 || n === 299 ? 'rejected' : 'fine',
      }),
    );
    await Promise.all(requests.map((request) => journal.append(request)));
    await journal.flush();
    assert.deepEqual(
      sink.rows,
      requests.filter((request) => !isRejected(request)),
    );
    assert.equal((await books()).spent, 300n);
    const errors = lines.filter(({ event }) => event === 'journal.rows_rejected');
    assert.deepEqual(
      errors.map(({ level, records }) => ({ level, records })),
      [{ level: 50, records: 3 }],
    );
    const deadLetter = await decodeLines(await readFile(String(errors[0]?.['path'])));
    assert.deepEqual(deadLetter.requests, requests.filter(isRejected));
    assert.equal(journal.stats().deadLetters, 3);
  });

  it('loses nothing while it rejects every row, and gets all of them afterwards', async () => {
    await using opened = await openTestJournal(database, { maxSegmentRecords: 100 });
    const { journal, account, sink, directory } = opened;
    sink.rejects = () => true;
    const requests = Array.from({ length: 250 }, () => finished(account));
    await Promise.all(requests.map((request) => journal.append(request)));
    const insertsBefore = sink.inserts;
    await waitUntil('a hundred more inserts', () => sink.inserts > insertsBefore + 100);
    assert.equal(journal.stats().telemetryBacklog, 250);
    sink.rejects = () => false;
    await journal.flush();
    assert.deepEqual(sink.requestIds, requests.map(({ requestId }) => requestId).sort());
    assert.ok(!(await readdir(directory)).includes('rejected'));
  });

  it('does not wait behind a segment of which it rejects every row', async () => {
    await using opened = await openTestJournal(database);
    const { journal, account, sink, directory } = opened;
    sink.rejects = isRejected;
    await journal.append(finished(account, { userAgent: 'rejected' }));
    await waitUntil('a failing insert', () => journal.stats().isTelemetryFailing);
    assert.equal(journal.stats().telemetryBacklog, 1, 'kept until the store has accepted other rows');
    await journal.append(finished(account, { userAgent: 'fine' }));
    await journal.flush();
    assert.equal(sink.rows.length, 1);
    assert.equal((await readdir(join(directory, 'rejected'))).length, 1);
    assert.equal(journal.stats().isTelemetryFailing, false);
  });

  it('has each row once although it forgot the token between an insert and its repeat', async () => {
    const processes = new TestProcesses();
    const rows: FinishedRequest[] = [];
    // A batch that spans two months may be stored in one and not yet in the other.
    const storeTwo = async (batch: FinishedRequest[]) => {
      if (rows.length === 0) rows.push(...batch.slice(0, 2));
      throw new Error('the answer was lost');
    };
    await using opened = await openTestJournal(database, {
      isDatabaseUnavailable: true,
      shipTelemetry: storeTwo,
      processes: processes.as('first'),
      flushTimeoutMs: 1,
      lastRetryMs: 1_000_000,
      firstRetryMs: 1_000_000,
    });
    const requests = Array.from({ length: 5 }, () => finished(opened.account));
    await Promise.all(requests.map((request) => opened.journal.append(request)));
    await waitUntil('a partial insert', () => rows.length === 2);
    await opened.journal[Symbol.asyncDispose]();

    const second = await opened.reopen({
      processes: processes.as('second'),
      shipTelemetry: async (batch) => void rows.push(...batch),
      findInTelemetry: async (batch) => {
        const ids = new Set(rows.map(({ requestId }) => requestId));
        return new Set(batch.map(({ requestId }) => requestId).filter((id) => ids.has(id)));
      },
    });
    await second.flush();
    assert.deepEqual(rows, requests);
  });
});
