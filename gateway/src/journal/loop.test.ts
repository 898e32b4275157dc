import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemClock } from '@gatehouse/concurrency';
import type { JournalClock } from './journal.ts';
import { Loop, type Next, pause, waitForWake } from './loop.ts';
import { Outage } from './outage.ts';
import { memoryLog } from './testing/fixtures.ts';

describe('a loop', () => {
  /** A loop whose every step and every sleep waits for the test. */
  function startLoop() {
    const steps: ((next: Next) => void)[] = [];
    const sleeps: number[] = [];
    const clock: JournalClock = {
      ...systemClock,
      async sleep(ms, signal) {
        sleeps.push(ms);
        if (!signal?.aborted) await new Promise((resolve) => signal?.addEventListener('abort', resolve));
      },
    };
    const loop = new Loop({
      clock,
      step: () => new Promise((resolve) => steps.push(resolve)),
      onError: () => 0,
    });
    const settle = () => new Promise((resolve) => setImmediate(resolve));
    return { loop, steps, sleeps, settle };
  }

  it('runs again at once when it was woken during the step', async () => {
    const { loop, steps, settle } = startLoop();
    await settle();
    loop.wake();
    steps[0]?.(waitForWake());
    await settle();
    assert.equal(steps.length, 2);
    steps[1]?.(waitForWake());
    await settle();
    assert.equal(steps.length, 2, 'woken once');
    loop.wake();
    await settle();
    assert.equal(steps.length, 3);
    const stopped = loop.stop();
    steps[2]?.(waitForWake());
    await stopped;
  });

  it('wakes after a pause, unless woken now', async () => {
    const { loop, steps, sleeps, settle } = startLoop();
    await settle();
    steps[0]?.(pause(500));
    await settle();
    loop.wake();
    await settle();
    assert.equal(steps.length, 1);
    assert.deepEqual(sleeps, [500]);
    loop.wakeNow();
    await settle();
    assert.equal(steps.length, 2);
    loop.wakeNow();
    steps[1]?.(pause(500));
    await settle();
    assert.equal(steps.length, 3, 'woken now, during the step');
    assert.deepEqual(sleeps, [500]);
    const stopped = loop.stop();
    steps[2]?.(pause(500));
    await stopped;
    assert.equal(steps.length, 3);
  });
});

describe('an outage', () => {
  it('doubles its waits up to a limit, half of each random, and is logged once at either end', () => {
    const { log, lines } = memoryLog();
    let chance = 0;
    const clock: JournalClock = { ...systemClock, monotonicMs: () => 0 };
    const random = () => chance;
    const outage = new Outage({ name: 'work', log, clock, random, firstRetryMs: 100, lastRetryMs: 1_000 });
    const waits = Array.from({ length: 6 }, () => outage.failed(new Error('no')));
    assert.deepEqual(waits, [50, 100, 200, 400, 500, 500]);
    chance = 0.999;
    assert.ok(Math.abs(outage.failed(new Error('no')) - 1_000) < 1);
    assert.equal(outage.isOngoing, true);
    outage.succeeded();
    outage.succeeded();
    assert.equal(outage.isOngoing, false);
    assert.deepEqual(
      lines.map(({ event, attempts }) => [event, attempts]),
      [
        ['journal.work_failing', undefined],
        ['journal.work_recovered', 7],
      ],
    );
    chance = 0;
    assert.equal(outage.failed(new Error('no')), 50, 'the next outage begins from the start');
  });
});
