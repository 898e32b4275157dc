import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createTestDatabase, type TestDatabase } from '@gatehouse/store/testing';
import { until } from './crashing.ts';
import type { FinishedRequest } from './finished-request.ts';
import type { JournalOptions } from './journal.ts';
import { openJournal } from './open-journal.ts';
import { decodeLines } from './record-line.ts';
import {
  books,
  createAccount,
  FakeProcesses,
  finished,
  gated,
  memoryLog,
  quick,
  TelemetrySink,
  temporaryDirectory,
} from './testing.ts';

const isPoison = ({ userAgent }: FinishedRequest) => userAgent === 'poison';

describe('telemetry that refuses rows', () => {
  let test: TestDatabase;
  before(async () => {
    test = await createTestDatabase();
  });
  after(() => test[Symbol.asyncDispose]());

  const open = (options: Partial<JournalOptions> & Pick<JournalOptions, 'directory' | 'shipTelemetry'>) =>
    openJournal({ database: test.database, log: memoryLog().log, ...quick, ...options });

  it('gets all others; the refused ones are set aside loudly, and settled all the same', async () => {
    await using directory = await temporaryDirectory();
    const account = await createAccount(test.database);
    const sink = new TelemetrySink();
    sink.refuses = isPoison;
    const { log, lines } = memoryLog();
    await using journal = await open({ directory: directory.path, shipTelemetry: sink.ship, log });
    const requests = Array.from({ length: 300 }, (_, n) =>
      finished(account, {
        costMicroPkr: 1n,
        userAgent: n === 0 || n === 137 || n === 299 ? 'poison' : 'fine',
      }),
    );
    await Promise.all(requests.map((request) => journal.append(request)));
    await journal.flush();
    assert.deepEqual(
      sink.rows,
      requests.filter((request) => !isPoison(request)),
    );
    assert.equal((await books(test.database, account)).spent, 300n);
    const loud = lines.filter(({ msg }) => msg.startsWith('telemetry refuses records'));
    assert.deepEqual(
      loud.map(({ level, records }) => ({ level, records })),
      [{ level: 50, records: 3 }],
    );
    const aside = await decodeLines(await readFile(String(loud[0]?.['path'])));
    assert.deepEqual(aside.requests, requests.filter(isPoison));
    assert.equal(journal.stats().setAside, 3);
  });

  it('keeps everything while it refuses every row there is, and takes it when that is over', async () => {
    await using directory = await temporaryDirectory();
    const account = await createAccount(test.database);
    const sink = new TelemetrySink();
    sink.refuses = () => true;
    await using journal = await open({
      directory: directory.path,
      shipTelemetry: sink.ship,
      maxSegmentRecords: 100,
    });
    const requests = Array.from({ length: 250 }, () => finished(account));
    await Promise.all(requests.map((request) => journal.append(request)));
    const offers = sink.offers;
    await until(() => sink.offers > offers + 100);
    assert.equal(journal.stats().telemetryBacklog, 250);
    sink.refuses = () => false;
    await journal.flush();
    assert.deepEqual(sink.requestIds, requests.map(({ requestId }) => requestId).sort());
    assert.deepEqual(
      (await readdir(directory.path)).filter((name) => name === 'rejected'),
      [],
    );
  });

  it('does not wait behind a segment of which it refuses every row', async () => {
    await using directory = await temporaryDirectory();
    const account = await createAccount(test.database);
    const sink = new TelemetrySink();
    sink.refuses = isPoison;
    await using journal = await open({ directory: directory.path, shipTelemetry: sink.ship });
    await journal.append(finished(account, { userAgent: 'poison' }));
    await until(() => journal.stats().isTelemetryFailing);
    assert.equal(journal.stats().telemetryBacklog, 1, 'kept until the store is seen to take other rows');
    await journal.append(finished(account, { userAgent: 'fine' }));
    await journal.flush();
    assert.equal(sink.rows.length, 1);
    assert.equal((await readdir(join(directory.path, 'rejected'))).length, 1);
    assert.equal(journal.stats().isTelemetryFailing, false);
  });

  it('has each row once although it forgot the token between an offer and its repeat', async () => {
    await using directory = await temporaryDirectory();
    const account = await createAccount(test.database);
    const processes = new FakeProcesses();
    const rows: FinishedRequest[] = [];
    // A batch that spans two months may be stored in one and not yet in the other.
    const storeTwo = async (batch: FinishedRequest[]) => {
      if (rows.length === 0) rows.push(...batch.slice(0, 2));
      throw new Error('the answer was lost');
    };
    const away = gated(test.database);
    away.isOpen = false;
    const first = await open({
      directory: directory.path,
      shipTelemetry: storeTwo,
      database: away,
      processes: processes.as('first'),
      flushTimeoutMs: 1,
      lastRetryMs: 1_000_000,
      firstRetryMs: 1_000_000,
    });
    const requests = Array.from({ length: 5 }, () => finished(account));
    await Promise.all(requests.map((request) => first.append(request)));
    await until(() => rows.length === 2);
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
