import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { createTestDatabase, type TestDatabase } from '@gatehouse/store/testing';
import { Universe, until } from './crashing.ts';
import type { FinishedRequest } from './finished-request.ts';
import { openJournal } from './open-journal.ts';
import {
  books,
  createAccount,
  FakeProcesses,
  finished,
  hold,
  memoryLog,
  quick,
  TelemetrySink,
  temporaryDirectory,
} from './testing.ts';

describe('a process that dies between any two steps', () => {
  let test: TestDatabase;
  before(async () => {
    test = await createTestDatabase();
  });
  after(() => test[Symbol.asyncDispose]());

  it('loses nothing that was acknowledged, and nothing is counted twice', { timeout: 600_000 }, async (t) => {
    let points = 0;
    for (let dieAt = 1; ; dieAt += 1) {
      const universe = await liveAndDie(dieAt);
      if (!universe.isDead) break;
      points = dieAt;
    }
    t.diagnostic(`died at each of ${points} points`);
    assert.ok(points > 80);
  });

  async function liveAndDie(dieAt: number): Promise<Universe> {
    await using directory = await temporaryDirectory();
    const { database } = test;
    const account = await createAccount(database);
    const sink = new TelemetrySink();
    const processes = new FakeProcesses();
    const acknowledged: FinishedRequest[] = [];
    const common = { ...quick, directory: directory.path, adoptIntervalMs: 1, leaseMs: 0 };
    const logged = memoryLog();

    const newRequest = async () => {
      const request = finished(account, { costMicroPkr: 7n, isHeld: true });
      await hold(database, request, 10n);
      return request;
    };

    // Dies in the middle of a write, with one segment full and nothing shipped.
    const ancestor = new Universe();
    await ancestor.run(async () => {
      const unreachable = () => Promise.reject(new Error('away'));
      const journal = await openJournal({
        ...common,
        database: { ...database, transaction: unreachable, one: unreachable },
        shipTelemetry: unreachable,
        processes: processes.as('ancestor'),
        timing: ancestor.timing,
        log: memoryLog().log,
        maxSegmentRecords: 2,
        adoptIntervalMs: 1_000_000,
        heartbeatMs: 1_000_000,
      });
      for (let n = 0; n < 5; n += 1) {
        const request = await newRequest();
        await journal.append(request);
        acknowledged.push(request);
      }
      ancestor.die();
    });
    processes.dead.add('ancestor');

    const universe = new Universe(dieAt);
    const life = universe.run(async () => {
      const journal = await openJournal({
        ...common,
        database: universe.database(database),
        shipTelemetry: universe.telemetry(sink.ship),
        processes: processes.as('victim'),
        timing: universe.timing,
        log: memoryLog().log,
        maxSegmentRecords: 2,
        // Only what the story itself does shall count, and in the same order every time.
        adoptIntervalMs: 1_000_000,
        heartbeatMs: 1_000_000,
        reapIntervalMs: 1_000_000,
      });
      for (let n = 0; n < 3; n += 1) {
        const request = await newRequest();
        await journal.append(request);
        acknowledged.push(request);
      }
      await journal.flush();
      const request = await newRequest();
      await journal.append(request);
      acknowledged.push(request);
      await journal[Symbol.asyncDispose]();
    });
    await Promise.race([life, universe.death]);
    processes.dead.add('victim');

    const heir = await openJournal({
      ...common,
      database,
      shipTelemetry: sink.ship,
      processes: processes.as('heir'),
      log: logged.log,
    });
    await until(async () => (await readdir(directory.path)).length === 1);
    await heir.flush();
    await heir[Symbol.asyncDispose]();

    const shipped = sink.requestIds;
    const where = `died at point ${dieAt}`;
    assert.equal(new Set(shipped).size, shipped.length, `${where}: telemetry has a row twice`);
    for (const { requestId } of acknowledged) assert.ok(shipped.includes(requestId), `${where}: lost a row`);
    const totals = await books(database, account);
    assert.equal(totals.settlements, BigInt(shipped.length), where);
    assert.equal(totals.spent, 7n * BigInt(shipped.length), where);
    // A request that died before its record was written leaves its hold to the reaper.
    assert.ok(totals.holds <= 1n, where);
    assert.deepEqual(await readdir(directory.path), [], where);
    assert.deepEqual(logged.messages(50), [], where);
    return universe;
  }
});
