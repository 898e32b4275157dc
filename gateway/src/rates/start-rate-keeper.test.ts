import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { systemClock } from '@gatehouse/concurrency';
import { pino } from 'pino';
import { openKeptRates } from './kept-rates.ts';
import { startKeeperThread, startRateKeeper } from './start-rate-keeper.ts';

const log = pino({ level: 'silent' });

describe('the thread of the rate keeper', () => {
  let directory: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gatehouse-keeper-'));
  });
  after(() => rm(directory, { recursive: true }));

  it('answers while its parent is busy, and leaves nothing behind', async () => {
    const path = join(directory, 'a.sock');
    const keeper = await startRateKeeper(path, log);
    const rates = await openKeptRates({ ...keeper.address, processes: 2, clock: systemClock, log });
    const decisions = await Promise.all([1, 2, 3].map(() => rates.take(randomUUID(), 1)));
    assert.ok(decisions.every(({ isAllowed, remaining }) => isAllowed && remaining === 0));
    const asking = rates.take(randomUUID(), 5);
    // The question leaves, and then this thread does nothing until the answer is there.
    await new Promise((resolve) => setImmediate(resolve));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    assert.equal((await asking).remaining, 4);
    rates.close();
    await keeper[Symbol.asyncDispose]();
    await assert.rejects(stat(path), { code: 'ENOENT' });
  });

  it('is replaced when it ends, and takes the place of a socket that was left', async () => {
    const path = join(directory, 'b.sock');
    const events: string[] = [];
    const ended = Promise.withResolvers<void>();
    const told = pino(
      {},
      { write: (line: string) => ended.resolve(void events.push(JSON.parse(line).event)) },
    );
    {
      await using _left = await startRateKeeper(path, log);
    }
    const threads: Worker[] = [];
    await using keeper = await startRateKeeper(path, told, (address) => {
      const thread = startKeeperThread(address);
      threads.push(thread);
      return thread;
    });
    await rm(path);
    await threads[0]?.terminate();
    await ended.promise;
    assert.deepEqual(events, ['rates.keeper_ended']);
    const rates = await openKeptRates({ ...keeper.address, processes: 2, clock: systemClock, log });
    assert.equal((await rates.take(randomUUID(), 5)).remaining, 4);
    rates.close();
  });

  it('does not start where it cannot listen', async () => {
    await assert.rejects(startRateKeeper(join(directory, 'none', 'c.sock'), log), { syscall: 'listen' });
  });
});
