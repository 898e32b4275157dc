import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createTestDatabase, type TestDatabase } from '@gatehouse/store/testing';
import type { FinishedRequest } from './finished-request.ts';
import type { JournalOptions } from './journal.ts';
import { openJournal } from './open-journal.ts';
import { decodeLines } from './record-line.ts';
import {
  books,
  createAccount,
  finished,
  gated,
  memoryLog,
  quick,
  TestProcesses,
  TestTelemetrySink,
  temporaryDirectory,
} from './testing/fixtures.ts';
import { waitUntil } from './testing/wait-until.ts';

const isRejected = ({ userAgent }: FinishedRequest) => userAgent === 'rejected';

describe('telemetry that rejects rows', () => {
  let test: TestDatabase;
  before(async () => {
    test = await createTestDatabase();
  });
  after(() => test[Symbol.asyncDispose]());

  const open = (options: Partial<JournalOptions> & Pick<JournalOptions, 'directory' | 'shipTelemetry'>) =>
    openJournal({ database: test.database, log: memoryLog().log, ...quick, ...options });

  it('gets all others; the rejected ones become dead letters with an error in the log, and are settled', async () => {
    await using directory = await temporaryDirectory();
    const account = await createAccount(test.database);
    const sink = new TestTelemetrySink();
    sink.rejects = isRejected;
    const { log, lines } = memoryLog();
    await using journal = await open({ directory: directory.path, shipTelemetry: sink.ship, log });
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
    assert.equal((await books(test.database, account)).spent, 300n);
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
    await using directory = await temporaryDirectory();
    const account = await createAccount(test.database);
    const sink = new TestTelemetrySink();
    sink.rejects = () => true;
    await using journal = await open({
      directory: directory.path,
      shipTelemetry: sink.ship,
      maxSegmentRecords: 100,
    });
    const requests = Array.from({ length: 250 }, () => finished(account));
    await Promise.all(requests.map((request) => journal.append(request)));
    const insertsBefore = sink.inserts;
    await waitUntil('a hundred more inserts', () => sink.inserts > insertsBefore + 100);
    assert.equal(journal.stats().telemetryBacklog, 250);
    sink.rejects = () => false;
    await journal.flush();
    assert.deepEqual(sink.requestIds, requests.map(({ requestId }) => requestId).sort());
    assert.deepEqual(
      (await readdir(directory.path)).filter((name) => name === 'rejected'),
      [],
    );
  });

  it('does not wait behind a segment of which it rejects every row', async () => {
    await using directory = await temporaryDirectory();
    const account = await createAccount(test.database);
    const sink = new TestTelemetrySink();
    sink.rejects = isRejected;
    await using journal = await open({ directory: directory.path, shipTelemetry: sink.ship });
    await journal.append(finished(account, { userAgent: 'rejected' }));
    await waitUntil('a failing insert', () => journal.stats().isTelemetryFailing);
    assert.equal(journal.stats().telemetryBacklog, 1, 'kept until the store has accepted other rows');
    await journal.append(finished(account, { userAgent: 'fine' }));
    await journal.flush();
    assert.equal(sink.rows.length, 1);
    assert.equal((await readdir(join(directory.path, 'rejected'))).length, 1);
    assert.equal(journal.stats().isTelemetryFailing, false);
  });

  it('has each row once although it forgot the token between an insert and its repeat', async () => {
    await using directory = await temporaryDirectory();
    const account = await createAccount(test.database);
    const processes = new TestProcesses();
    const rows: FinishedRequest[] = [];
    // A batch that spans two months may be stored in one and not yet in the other.
    const storeTwo = async (batch: FinishedRequest[]) => {
      if (rows.length === 0) rows.push(...batch.slice(0, 2));
      throw new Error('the answer was lost');
    };
    const unavailable = gated(test.database);
    unavailable.isOpen = false;
    const first = await open({
      directory: directory.path,
      shipTelemetry: storeTwo,
      database: unavailable,
      processes: processes.as('first'),
      flushTimeoutMs: 1,
      lastRetryMs: 1_000_000,
      firstRetryMs: 1_000_000,
    });
    const requests = Array.from({ length: 5 }, () => finished(account));
    await Promise.all(requests.map((request) => first.append(request)));
    await waitUntil('a partial insert', () => rows.length === 2);
    await first[Symbol.asyncDispose]();

    await using second = await open({
      directory: directory.path,
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
