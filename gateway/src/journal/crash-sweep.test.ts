import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { useTestDatabase } from '@gatehouse/store/testing';
import type { FinishedRequest } from './finished-request.ts';
import { openJournal } from './open-journal.ts';
import { SimulatedProcess } from './testing/crash-simulator.ts';
import {
  books,
  createAccount,
  finished,
  hold,
  memoryLog,
  quick,
  TestProcesses,
  TestTelemetrySink,
  temporaryDirectory,
} from './testing/fixtures.ts';
import { waitUntil, within } from './testing/wait-until.ts';

const RUN_LIMIT_MS = 30_000;

const test = await useTestDatabase();

describe('a process that crashes between any two steps', () => {
  it('loses nothing that was acknowledged, and nothing is counted twice', { timeout: 600_000 }, async (t) => {
    let points = 0;
    for (let crashAt = 1; ; crashAt += 1) {
      const simulated = await runAndCrash(crashAt);
      if (!simulated.isCrashed) break;
      points = crashAt;
    }
    t.diagnostic(`crashed at each of ${points} points`);
    assert.ok(points > 80);
  });

  async function runAndCrash(crashAt: number): Promise<SimulatedProcess> {
    await using directory = await temporaryDirectory();
    const { database } = test;
    const account = await createAccount(database);
    const sink = new TestTelemetrySink();
    const processes = new TestProcesses();
    const acknowledged: FinishedRequest[] = [];
    const common = { ...quick, directory: directory.path, recoveryIntervalMs: 1, leaseMs: 0 };
    const logged = memoryLog();

    const newRequest = async () => {
      const request = finished(account, { costMicroPkr: 7n, isHeld: true });
      await hold(database, request, 10n);
      return request;
    };

    // Crashes with one segment full and nothing shipped.
    const predecessor = new SimulatedProcess();
    await predecessor.run(async () => {
      const unreachable = () => Promise.reject(new Error('unavailable'));
      const journal = await openJournal({
        ...common,
        database: { ...database, many: unreachable, one: unreachable },
        shipTelemetry: unreachable,
        processes: processes.as('predecessor'),
        clock: predecessor.clock,
        log: memoryLog().log,
        maxSegmentRecords: 2,
        recoveryIntervalMs: 1_000_000,
        heartbeatMs: 1_000_000,
      });
      for (let n = 0; n < 5; n += 1) {
        const request = await newRequest();
        await journal.append(request);
        acknowledged.push(request);
      }
      predecessor.crash();
    });
    processes.dead.add('predecessor');

    const simulated = new SimulatedProcess(crashAt);
    const life = simulated.run(async () => {
      const journal = await openJournal({
        ...common,
        database: simulated.database(database),
        shipTelemetry: simulated.telemetry(sink.ship),
        processes: processes.as('victim'),
        clock: simulated.clock,
        log: memoryLog().log,
        maxSegmentRecords: 2,
        // Only the steps of this run are counted, in the same order every time.
        recoveryIntervalMs: 1_000_000,
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
    await within(
      `a run that crashes at point ${crashAt}`,
      RUN_LIMIT_MS,
      Promise.race([life, simulated.crashed]),
    );
    processes.dead.add('victim');

    const successor = await openJournal({
      ...common,
      database,
      shipTelemetry: sink.ship,
      processes: processes.as('successor'),
      log: logged.log,
    });
    await waitUntil(
      'the recovery of both directories',
      async () => (await readdir(directory.path)).length === 1,
    );
    await successor.flush();
    await successor[Symbol.asyncDispose]();

    const shipped = sink.requestIds;
    const where = `crashed at point ${crashAt}`;
    assert.equal(new Set(shipped).size, shipped.length, `${where}: telemetry has a row twice`);
    for (const { requestId } of acknowledged) assert.ok(shipped.includes(requestId), `${where}: lost a row`);
    const totals = await books(database, account);
    assert.equal(totals.settlements, BigInt(shipped.length), where);
    assert.equal(totals.spent, 7n * BigInt(shipped.length), where);
    // A request that died before its record was written leaves its hold to the reaper.
    assert.ok(totals.holds <= 1n, where);
    assert.deepEqual(await readdir(directory.path), [], where);
    assert.deepEqual(logged.messages(50), [], where);
    return simulated;
  }
});
