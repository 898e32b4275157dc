import assert from 'node:assert/strict';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Database } from '@gatehouse/store';
import { createTestDatabase, type TestDatabase } from '@gatehouse/store/testing';
import { until } from './crashing.ts';
import type { JournalOptions } from './journal.ts';
import { openJournal } from './open-journal.ts';
import {
  books,
  createAccount,
  finished,
  gated,
  hold,
  memoryLog,
  quick,
  TelemetrySink,
  temporaryDirectory,
} from './testing.ts';

describe('the journal', () => {
  let test: TestDatabase;
  let database: Database;
  before(async () => {
    test = await createTestDatabase();
    database = test.database;
  });
  after(() => test[Symbol.asyncDispose]());

  const open = (options: Partial<JournalOptions> & Pick<JournalOptions, 'directory' | 'shipTelemetry'>) =>
    openJournal({ database, log: memoryLog().log, ...quick, ...options });

  it('settles the cost, releases the hold and ships the row, once, and leaves nothing on disk', async () => {
    await using directory = await temporaryDirectory();
    const account = await createAccount(database);
    const sink = new TelemetrySink();
    const request = finished(account, { costMicroPkr: 700n, isHeld: true });
    await hold(database, request, 1_000n);
    const other = finished(account, { keyId: account.keyIds[1] ?? '', costMicroPkr: 50n });
    {
      await using journal = await open({ directory: directory.path, shipTelemetry: sink.ship });
      await journal.append(request);
      await journal.append(other);
      await journal.flush();
      assert.deepEqual(await books(database, account), { spent: 750n, held: 0n, settlements: 2n, holds: 0n });
      assert.deepEqual(sink.rows, [request, other]);
      const { ledgerBacklog, telemetryBacklog, segments, bytes, appended } = journal.stats();
      assert.deepEqual(
        { ledgerBacklog, telemetryBacklog, segments, bytes, appended },
        { ledgerBacklog: 0, telemetryBacklog: 0, segments: 0, bytes: 0, appended: 2 },
      );
    }
    assert.deepEqual(await readdir(directory.path), []);
  });

  it('ships refusals to telemetry without a settlement, and releases a hold that cost nothing', async () => {
    await using directory = await temporaryDirectory();
    const account = await createAccount(database);
    const sink = new TelemetrySink();
    const free = finished(account, { costMicroPkr: 0n, isHeld: true });
    await hold(database, free, 900n);
    await using journal = await open({ directory: directory.path, shipTelemetry: sink.ship });
    await journal.append(
      finished(account, { costMicroPkr: 0n, status: 429, refusal: 'rate_limit_exceeded' }),
    );
    await journal.append(free);
    await journal.flush();
    assert.deepEqual(await books(database, account), { spent: 0n, held: 0n, settlements: 1n, holds: 0n });
    assert.equal(sink.rows.length, 2);
  });

  it('counts a request once that is recorded twice, in one segment and across segments', async () => {
    await using directory = await temporaryDirectory();
    const account = await createAccount(database);
    await using journal = await open({
      directory: directory.path,
      shipTelemetry: new TelemetrySink().ship,
    });
    const request = finished(account, { costMicroPkr: 5n });
    await Promise.all([journal.append(request), journal.append(request)]);
    await journal.flush();
    await journal.append(request);
    await journal.flush();
    assert.deepEqual(await books(database, account), { spent: 5n, held: 0n, settlements: 1n, holds: 0n });
  });

  it('settles at once while telemetry is away, in few segments, and catches up when it is back', async () => {
    await using directory = await temporaryDirectory();
    const account = await createAccount(database);
    const sink = new TelemetrySink();
    const { log, messages } = memoryLog();
    sink.failure = new Error('no telemetry');
    await using journal = await open({ directory: directory.path, shipTelemetry: sink.ship, log });
    for (let n = 1; n <= 50; n += 1) {
      await journal.append(finished(account, { costMicroPkr: 1n }));
      await until(async () => (await books(database, account)).spent === BigInt(n));
    }
    assert.ok(journal.stats().segments <= 2, `${journal.stats().segments} segments`);
    // The database shows the last one before the shipper has heard of its commit.
    await until(() => journal.stats().ledgerBacklog === 0);
    assert.equal(journal.stats().telemetryBacklog, 50);
    assert.equal(journal.stats().isTelemetryFailing, true);
    const offersBefore = sink.offers;
    await until(() => sink.offers > offersBefore + 2);
    sink.failure = undefined;
    await journal.flush();
    assert.equal(new Set(sink.requestIds).size, 50);
    assert.equal(sink.rows.length, 50);
    assert.equal(messages(50).length, 1, 'one line for the whole outage');
    assert.match(messages(50)[0] ?? '', /^shipping requests to telemetry fails/);
    assert.deepEqual(
      messages(30).filter((message) => message.includes('telemetry')),
      ['shipping requests to telemetry works again'],
    );
  });

  it('ships to telemetry at once while PostgreSQL is away, and settles when it is back', async () => {
    await using directory = await temporaryDirectory();
    const account = await createAccount(database);
    const sink = new TelemetrySink();
    const { log, messages } = memoryLog();
    const gate = gated(database);
    gate.isOpen = false;
    await using journal = await open({
      directory: directory.path,
      shipTelemetry: sink.ship,
      log,
      database: gate,
    });
    for (let n = 1; n <= 50; n += 1) {
      await journal.append(finished(account, { costMicroPkr: 1n }));
      await until(() => sink.rows.length === n);
    }
    assert.deepEqual(await books(database, account), { spent: 0n, held: 0n, settlements: 0n, holds: 0n });
    await until(() => journal.stats().telemetryBacklog === 0);
    gate.isOpen = true;
    await journal.flush();
    assert.deepEqual(await books(database, account), { spent: 50n, held: 0n, settlements: 50n, holds: 0n });
    assert.equal(sink.rows.length, 50);
    assert.equal(messages(50).filter((message) => message.startsWith('settling')).length, 1);
    assert.equal(messages(30).filter((message) => message.startsWith('settling')).length, 1);
  });

  it('offers the same rows under the same token until the answer arrives', async () => {
    await using directory = await temporaryDirectory();
    const account = await createAccount(database);
    const sink = new TelemetrySink();
    sink.lostAnswer = new Error('the connection broke after the insert');
    await using journal = await open({ directory: directory.path, shipTelemetry: sink.ship });
    await journal.append(finished(account));
    await until(() => sink.offers >= 3);
    sink.lostAnswer = undefined;
    await journal.flush();
    assert.equal(sink.rows.length, 1);
    assert.equal(sink.batches.size, 1);
  });

  it('gives up waiting for a telemetry store that never answers, and asks again', async () => {
    await using directory = await temporaryDirectory();
    const account = await createAccount(database);
    const sink = new TelemetrySink();
    let hangs = true;
    await using journal = await open({
      directory: directory.path,
      telemetryTimeoutMs: 5,
      shipTelemetry: (rows, token) => (hangs ? new Promise(() => undefined) : sink.ship(rows, token)),
    });
    await journal.append(finished(account));
    await until(() => journal.stats().isTelemetryFailing);
    hangs = false;
    await journal.flush();
    assert.equal(sink.rows.length, 1);
  });

  it('seals at the limits, and ships segments in order', async () => {
    await using directory = await temporaryDirectory();
    const account = await createAccount(database);
    const sink = new TelemetrySink();
    sink.failure = new Error('no telemetry');
    await using journal = await open({
      directory: directory.path,
      shipTelemetry: sink.ship,
      maxSegmentRecords: 10,
    });
    const requests = Array.from({ length: 95 }, () => finished(account));
    for (const request of requests) await journal.append(request);
    await until(() => journal.stats().segments >= 10);
    sink.failure = undefined;
    await journal.flush();
    assert.deepEqual(sink.rows, requests);
    assert.deepEqual(await books(database, account), {
      spent: 95_000n,
      held: 0n,
      settlements: 95n,
      holds: 0n,
    });
  });

  it('closes within its limit when a store is away, and the next start ships what was left', async () => {
    await using directory = await temporaryDirectory();
    const account = await createAccount(database);
    const sink = new TelemetrySink();
    sink.failure = new Error('no telemetry');
    const gate = gated(database);
    gate.isOpen = false;
    const { log, messages } = memoryLog();
    const journal = await open({
      directory: directory.path,
      shipTelemetry: sink.ship,
      database: gate,
      flushTimeoutMs: 20,
      log,
    });
    await journal.append(finished(account));
    await journal[Symbol.asyncDispose]();
    assert.match(messages(40).join(), /they stay on disk for the next start/);
    await assert.rejects(journal.append(finished(account)), /closed/);

    sink.failure = undefined;
    await using next = await open({ directory: directory.path, shipTelemetry: sink.ship });
    await next.flush();
    assert.equal(sink.rows.length, 1);
    assert.deepEqual(await books(database, account), { spent: 1_000n, held: 0n, settlements: 1n, holds: 0n });
    assert.equal((await readdir(directory.path)).length, 1, 'only the directory of the journal that is open');
  });

  it('takes more than one transaction can hold', async () => {
    await using directory = await temporaryDirectory();
    const account = await createAccount(database);
    const sink = new TelemetrySink();
    await using journal = await open({ directory: directory.path, shipTelemetry: sink.ship });
    const requests = Array.from({ length: 2_500 }, (_, n) =>
      finished(account, { keyId: account.keyIds[n % 2] ?? '', costMicroPkr: 2n }),
    );
    await Promise.all(requests.map((request) => journal.append(request)));
    await journal.flush();
    assert.deepEqual(await books(database, account), {
      spent: 5_000n,
      held: 0n,
      settlements: 2_500n,
      holds: 0n,
    });
    assert.deepEqual(sink.requestIds, requests.map(({ requestId }) => requestId).sort());
  });

  it('keeps what is in its files from other users of the machine', async () => {
    await using directory = await temporaryDirectory();
    const account = await createAccount(database);
    const sink = new TelemetrySink();
    sink.failure = new Error('no telemetry');
    const gate = gated(database);
    gate.isOpen = false;
    await using journal = await open({
      directory: directory.path,
      shipTelemetry: sink.ship,
      database: gate,
      flushTimeoutMs: 1,
    });
    await journal.append(finished(account));
    // Sealed before it was offered, and paid by nobody: no file changes its name while it is looked at.
    await until(() => journal.stats().isTelemetryFailing);
    for (const name of await readdir(directory.path)) {
      assert.equal((await stat(join(directory.path, name))).mode & 0o777, 0o700);
      for (const file of await readdir(join(directory.path, name))) {
        const mode = await stat(join(directory.path, name, file)).then(({ mode }) => mode & 0o777);
        assert.equal(mode, 0o600, file);
      }
    }
    gate.isOpen = true;
    sink.failure = undefined;
  });
});
