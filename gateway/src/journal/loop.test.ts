import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Loop, type Next, pause, waitForNews } from './loop.ts';
import { Outage } from './outage.ts';
import { memoryLog } from './testing.ts';
import { systemTiming, type Timing } from './timing.ts';

describe('a loop', () => {
  /** A loop whose every step and every sleep waits for the test. */
  function startLoop() {
    const steps: ((next: Next) => void)[] = [];
    const sleeps: number[] = [];
    const timing: Timing = {
      ...systemTiming,
      async sleep(ms, signal) {
        sleeps.push(ms);
        if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
      },
    };
    const loop = new Loop({
      timing,
      step: () => new Promise((resolve) => steps.push(resolve)),
      onError: () => 0,
    });
    const settle = () => new Promise((resolve) => setImmediate(resolve));
    return { loop, steps, sleeps, settle };
  }

  it('runs again at once when there was news during the step', async () => {
    const { loop, steps, settle } = startLoop();
    await settle();
    loop.nudge();
    steps[0]?.(waitForNews());
    await settle();
    assert.equal(steps.length, 2);
    steps[1]?.(waitForNews());
    await settle();
    assert.equal(steps.length, 2, 'the news is used up');
    loop.nudge();
    await settle();
    assert.equal(steps.length, 3);
    const stopped = loop.stop();
    steps[2]?.(waitForNews());
    await stopped;
  });

  it('lets news wait for the end of a pause, and hurry not', async () => {
    const { loop, steps, sleeps, settle } = startLoop();
    await settle();
    steps[0]?.(pause(500));
    await settle();
    loop.nudge();
    await settle();
    assert.equal(steps.length, 1);
    assert.deepEqual(sleeps, [500]);
    loop.hurry();
    await settle();
    assert.equal(steps.length, 2);
    loop.hurry();
    steps[1]?.(pause(500));
    await settle();
    assert.equal(steps.length, 3, 'hurried during the step');
    assert.deepEqual(sleeps, [500]);
    const stopped = loop.stop();
    steps[2]?.(pause(500));
    await stopped;
    assert.equal(steps.length, 3);
  });
});

describe('an outage', () => {
  it('waits longer each time up to a limit, with half of it by chance, and is logged once at either end', () => {
    const { log, lines } = memoryLog();
    let chance = 0;
    const timing: Timing = { ...systemTiming, now: () => 0, random: () => chance };
    const outage = new Outage({ what: 'talking', log, timing, firstRetryMs: 100, lastRetryMs: 1_000 });
    const waits = Array.from({ length: 6 }, () => outage.failed(new Error('no')));
    assert.deepEqual(waits, [50, 100, 200, 400, 500, 500]);
    chance = 0.999;
    assert.ok(Math.abs(outage.failed(new Error('no')) - 1_000) < 1);
    assert.equal(outage.isOngoing, true);
    outage.recovered();
    outage.recovered();
    assert.equal(outage.isOngoing, false);
    assert.deepEqual(
      lines.map(({ level, attempts }) => [level, attempts]),
      [
        [50, undefined],
        [30, 7],
      ],
    );
    chance = 0;
    assert.equal(outage.failed(new Error('no')), 50, 'the next outage begins from the start');
  });
});
