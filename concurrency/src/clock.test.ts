import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, it } from 'node:test';
import { systemClock } from './clock.ts';

describe('the system clock', () => {
  it('sleeps for at least the given time', async () => {
    const startedAt = systemClock.monotonicMs();
    await systemClock.sleep(5);
    // A timer counts whole milliseconds and may fire within the last one.
    assert.ok(systemClock.monotonicMs() - startedAt >= 4);
  });

  it('wakes when the signal aborts, before or during the sleep, and removes its listener', async () => {
    await systemClock.sleep(600_000, AbortSignal.abort());
    const controller = new AbortController();
    const sleeping = systemClock.sleep(600_000, controller.signal);
    assert.equal(getEventListeners(controller.signal, 'abort').length, 1);
    controller.abort();
    await sleeping;
    assert.equal(getEventListeners(controller.signal, 'abort').length, 0);
    const { signal } = new AbortController();
    await systemClock.sleep(1, signal);
    assert.equal(getEventListeners(signal, 'abort').length, 0);
  });

  it('waits for a delay beyond the range of setTimeout in place of firing at once', async () => {
    const fired: string[] = [];
    const controller = new AbortController();
    const cancel = systemClock.after(2 ** 40, () => fired.push('after'));
    const sleeping = systemClock.sleep(2 ** 40, controller.signal).then(() => fired.push('sleep'));
    await systemClock.sleep(5);
    assert.deepEqual(fired, []);
    cancel();
    controller.abort();
    await sleeping;
  });

  it('calls back after the delay, unless cancelled', async () => {
    const fired: string[] = [];
    const cancel = systemClock.after(1, () => fired.push('cancelled'));
    cancel();
    await new Promise<void>((resolve) => {
      systemClock.after(2, () => fired.push('called'));
      setTimeout(resolve, 20);
    });
    assert.deepEqual(fired, ['called']);
  });
});
