import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { newSeed } from '@gatehouse/concurrency/testing';
import type { Database } from '@gatehouse/store';
import { runSql, useTestDatabase } from '@gatehouse/store/testing';
import { newRequestId } from '../exchange/request-id.ts';
import type { FinishedRequest } from './finished-request.ts';
import type { OpenJournal } from './journal.ts';
import { openJournal } from './open-journal.ts';
import { releaseOverdueHolds } from './settle.ts';
import { SimulatedProcess } from './testing/crash-simulator.ts';
import {
  type Account,
  books,
  createAccount,
  finished,
  gated,
  hold,
  memoryLog,
  quick,
  TestProcesses,
  TestTelemetrySink,
  temporaryDirectory,
} from './testing/fixtures.ts';
import { randomFrom } from './testing/random.ts';
import { waitUntil } from './testing/wait-until.ts';

const HISTORIES = 12;
const STEPS = 120;

interface Node {
  readonly name: string;
  readonly simulated: SimulatedProcess;
  readonly journal: Promise<OpenJournal>;
}

const test = await useTestDatabase();

describe('any history of requests, crashes and outages', () => {
  it('ends with every acknowledged request counted once', { timeout: 120_000 }, async (t) => {
    const seed = newSeed();
    t.diagnostic(`seed ${seed}`);
    const random = randomFrom(seed);
    for (let history = 0; history < HISTORIES; history += 1) await run(random);
  });

  // Last: from here on, no settlement is young enough to be kept.
  it('and so it ends when settlements are folded all the time', { timeout: 120_000 }, async (t) => {
    const seed = newSeed();
    t.diagnostic(`seed ${seed}`);
    const random = randomFrom(seed);
    await runSql(test.owner)`SELECT advance_settlement_fold(clock_timestamp() + interval '1 hour')`;
    let folded = 0;
    for (let history = 0; history < HISTORIES; history += 1) folded += await run(random, true);
    assert.ok(folded > 100, `${folded} were folded meanwhile`);
  });

  /** Folds everything that may be folded, and returns how many requests that were. */
  async function fold(): Promise<number> {
    await runSql(test.owner)`UPDATE settlement_horizon SET folded_until = opened_at`;
    const [row] = await runSql<{ requests: bigint }>(
      test.database,
    )`SELECT requests FROM fold_settled_requests()`;
    return Number(row?.requests);
  }

  async function run(random: () => number, isFolding = false): Promise<number> {
    await using directory = await temporaryDirectory();
    const account = await createAccount(test.database, 3);
    const database = gated(test.database);
    const sink = new TestTelemetrySink();
    const processes = new TestProcesses();
    const acknowledged = new Map<string, FinishedRequest>();
    const attempts = new Map<string, number>();
    const appends: Promise<void>[] = [];
    let nodesMade = 0;
    let folded = 0;

    await using end = new AsyncDisposableStack();
    const start = (): Node => {
      nodesMade += 1;
      const name = `node ${nodesMade}`;
      // Most die at a point of their own choosing, wherever that is; the others when the history says so.
      const simulated = new SimulatedProcess(random() < 0.7 ? 1 + Math.floor(random() * 250) : undefined);
      end.defer(() => simulated.crash());
      const journal = simulated.run(() => open(name, simulated.database(database), simulated));
      return { name, simulated, journal };
    };
    // Only the successor, beside which no process runs, may recover a directory without an owner file: a node that waits
    // for the disk before it has written the file would be taken for dead.
    const open = (name: string, over: Database, simulated?: SimulatedProcess) =>
      openJournal({
        ...quick,
        directory: directory.path,
        database: over,
        shipTelemetry: simulated ? simulated.telemetry(sink.ship) : sink.ship,
        findInTelemetry: async (rows) => {
          const stored = new Set(sink.requestIds);
          return new Set(rows.map(({ requestId }) => requestId).filter((id) => stored.has(id)));
        },
        processes: processes.as(name),
        ...(simulated ? { clock: simulated.clock } : {}),
        log: memoryLog().log,
        maxSegmentRecords: 1 + Math.floor(random() * 10),
        recoveryIntervalMs: 3,
        heartbeatMs: 3,
        reapIntervalMs: 3,
        leaseMs: simulated ? 1_000_000 : 20,
      });
    const nodes = [start(), start()];
    const replaceCrashed = () => {
      for (const [index, { simulated, name }] of nodes.entries()) {
        if (!simulated.isCrashed) continue;
        processes.dead.add(name);
        nodes[index] = start();
      }
    };

    const count = async (node: Node) => {
      const isOfSeveral = random() < 0.5;
      const counted = {
        ...finished(account, {
          costMicroPkr: 0n,
          status: 429,
          requestCount: 2 + Math.floor(random() * 1_000),
        }),
        ...(isOfSeveral ? { keyId: null, projectId: null } : {}),
      };
      attempts.set(counted.requestId, 1);
      await node.simulated.run(async () => (await node.journal).append(counted));
      acknowledged.set(counted.requestId, counted);
    };
    const finish = async (node: Node) => {
      const keyId = account.keyIds[Math.floor(random() * account.keyIds.length)] ?? '';
      const costMicroPkr = BigInt(Math.floor(random() * 4));
      const request = finished(account, {
        keyId,
        costMicroPkr,
        isHeld: random() < 0.6,
        ...(isFolding && { requestId: newRequestId(Date.now()) }),
      });
      const holdMs = random() < 0.3 ? -1 : 60_000;
      // Two records of one request have two positions. They are written within moments, so they meet as rows.
      const repeats = random() < 0.1 && !isFolding ? 2 : 1;
      if (request.isHeld) await hold(test.database, request, 5n, holdMs);
      // A third of the held requests whose hold is overdue is released before its record is even written.
      if (holdMs < 0 && random() < 0.3) await releaseOverdueHolds(test.database, 2);
      for (let n = 0; n < repeats; n += 1) {
        attempts.set(request.requestId, n + 1);
        await node.simulated.run(async () => (await node.journal).append(request));
        acknowledged.set(request.requestId, request);
      }
    };

    for (let step = 0; step < STEPS; step += 1) {
      const node = nodes[Math.floor(random() * nodes.length)];
      const dice = random();
      if (!node) continue;
      if (dice < 0.1) appends.push(Promise.race([count(node), node.simulated.crashed]));
      else if (dice < 0.75) appends.push(Promise.race([finish(node), node.simulated.crashed]));
      else if (dice < 0.8) node.simulated.crash();
      else if (dice < 0.84) sink.failure = sink.failure ? undefined : new Error('no telemetry');
      else if (dice < 0.88) sink.lostAnswer = sink.lostAnswer ? undefined : new Error('the answer was lost');
      else if (dice < 0.92) database.isOpen = !database.isOpen;
      else await Promise.all(appends.splice(0));
      replaceCrashed();
      if (isFolding && random() < 0.3) folded += await fold();
    }
    sink.failure = undefined;
    sink.lostAnswer = undefined;
    database.isOpen = true;
    await Promise.all(appends);
    for (const { simulated, name } of nodes) {
      simulated.crash();
      processes.dead.add(name);
    }

    const successor = end.use(await open('successor', test.database));
    await waitUntil(
      'the recovery of all directories',
      async () => (await readdir(directory.path)).length === 1,
    );
    await successor.flush();
    await successor[Symbol.asyncDispose]();
    await check(account, acknowledged, sink);
    if (isFolding) {
      folded += await fold();
      await check(account, acknowledged, sink);
    }
    for (const [requestId, most] of attempts) {
      const rows = sink.rows.filter((row) => row.requestId === requestId).length;
      assert.ok(rows <= most, `${rows} rows of a request that was appended ${most} times`);
    }
    assert.deepEqual(await readdir(directory.path), []);
    return folded;
  }

  async function check(
    account: Account,
    acknowledged: Map<string, FinishedRequest>,
    sink: TestTelemetrySink,
  ) {
    const shipped = new Map(sink.rows.map((row) => [row.requestId, row]));
    for (const [requestId, { requestCount }] of acknowledged) {
      assert.ok(shipped.has(requestId), `lost ${requestId}`);
      assert.equal(shipped.get(requestId)?.requestCount, requestCount);
    }
    const toSettle = [...shipped.values()].filter(({ isHeld, costMicroPkr }) => isHeld || costMicroPkr > 0n);
    const { spent, settlements } = await books(test.database, account);
    const [totals] = await runSql<{ requests: bigint }>(test.database)`
      SELECT coalesce(sum(requests), 0) AS requests FROM settlement_totals WHERE organization_id = ${account.organizationId}`;
    assert.equal(settlements + (totals?.requests ?? 0n), BigInt(toSettle.length));
    assert.equal(
      spent,
      toSettle.reduce((sum, { costMicroPkr }) => sum + costMicroPkr, 0n),
    );
    // No request that was recorded still has a hold.
    const left = await runSql<{ requestId: string }>(test.database)`
      SELECT request_id FROM holds WHERE organization_id = ${account.organizationId}`;
    for (const { requestId } of left) assert.ok(!acknowledged.has(requestId));
  }
});
