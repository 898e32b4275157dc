import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { newSeed } from '@gatehouse/concurrency/testing';
import { runSql, useTestDatabase } from '@gatehouse/store/testing';
import { openJournal } from './open-journal.ts';
import { decodeLines } from './record-line.ts';
import { releaseOverdueHolds } from './settle.ts';
import {
  type Account,
  books,
  createAccount,
  memoryLog,
  quick,
  TestTelemetrySink,
  temporaryDirectory,
} from './testing/fixtures.ts';
import type { FromVictim, ToVictim, VictimOptions } from './testing/kill-victim.ts';
import { randomFrom } from './testing/random.ts';
import { waitUntil, within } from './testing/wait-until.ts';

const CYCLES = 8;
// What the victims' connections are called.
const VICTIM = 'gatehouse';

const test = await useTestDatabase();

describe('kill -9 while requests finish', () => {
  it('loses no acknowledged record, and nothing arrives twice', { timeout: 60_000 }, async (t) => {
    const seed = newSeed();
    t.diagnostic(`seed ${seed}`);
    const random = randomFrom(seed);
    await using directory = await temporaryDirectory();
    const account = await createAccount(test.database);
    const sink = new TestTelemetrySink();
    const acknowledged = new Map<string, bigint>();

    // Each victim recovers the segments of the ones before it, and may be killed while it ships them.
    for (let cycle = 0; cycle < CYCLES; cycle += 1) {
      await killAfter(Math.floor(random() * 400), account, directory.path, acknowledged, sink);
    }
    const journal = await openJournal({
      ...quick,
      directory: directory.path,
      database: test.database,
      shipTelemetry: sink.ship,
      log: memoryLog().log,
    });
    await journal.flush();
    await journal[Symbol.asyncDispose]();

    t.diagnostic(
      `${acknowledged.size} acknowledged, ${sink.rows.length} shipped in ${sink.batches.size} batches`,
    );
    const rows = new Map(sink.rows.map((row) => [row.requestId, row]));
    assert.equal(rows.size, sink.rows.length, 'telemetry has a row twice');
    for (const [requestId, costMicroPkr] of acknowledged) {
      assert.equal(rows.get(requestId)?.costMicroPkr, costMicroPkr, 'telemetry lost a row');
    }
    const toSettle = sink.rows.filter(({ isHeld, costMicroPkr }) => isHeld || costMicroPkr > 0n);
    const spent = toSettle.reduce((sum, { costMicroPkr }) => sum + costMicroPkr, 0n);
    const { holds: _, held: __, ...totals } = await books(test.database, account);
    assert.deepEqual(totals, { spent, settlements: BigInt(toSettle.length) });

    // A statement that a victim sent before it was killed may still run in the server and make one more hold.
    const sessions = () => runSql(test.database)`
      SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = ${VICTIM}`;
    await waitUntil("the end of the victims' sessions", async () => (await sessions()).length === 0);
    // What is held now belongs to requests that were never recorded, at most one for each appender and victim.
    await runSql(test.database)`UPDATE holds SET deadline = deadline - interval '1 day'`;
    const { holds } = await releaseOverdueHolds(test.database, 10_000);
    assert.ok(holds <= 16 * CYCLES, `${holds} holds were left`);
    assert.equal((await books(test.database, account)).held, 0n);
    assert.deepEqual(await readdir(directory.path), []);
  });

  /** Runs a victim until it has reported so many acknowledged appends, and kills it in the middle of its work. */
  async function killAfter(
    count: number,
    account: Account,
    directory: string,
    acknowledged: Map<string, bigint>,
    sink: TestTelemetrySink,
  ): Promise<void> {
    const options: VictimOptions = { directory, account, address: test.address, maxSegmentRecords: 50 };
    const victim = fork(join(import.meta.dirname, 'testing', 'kill-victim.ts'), [JSON.stringify(options)]);
    const stores: Promise<void>[] = [];
    let left = count;
    victim.on('message', (message: FromVictim) => {
      if (message.kind === 'acknowledged') {
        acknowledged.set(message.requestId, BigInt(message.costMicroPkr));
        left -= 1;
        if (left <= 0) victim.kill('SIGKILL');
        return;
      }
      stores.push(
        (async () => {
          const { requests } = await decodeLines(Buffer.from(message.lines.join('')));
          await sink.ship([...requests], message.token);
          const answer: ToVictim = { stored: message.number };
          // The victim may have ended.
          victim.send(answer, () => undefined);
        })(),
      );
    });
    const [code, signal] = await within('the end of a killed process', 30_000, once(victim, 'close'));
    assert.equal(signal, 'SIGKILL', `the victim ended by itself with code ${code}`);
    await Promise.all(stores);
  }
});
