import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import type { ManualTime } from './manual-time.ts';

const LIMIT_MS = 10_000;

/**
 * Asserts that nothing waits any more. An answer is there a moment before the last of its delays ends: the release of
 * its hold has one, and so has the provider's connection, until its end has come.
 */
export async function assertNoDelays(time: Pick<ManualTime, 'pending'>): Promise<void> {
  const end = performance.now() + LIMIT_MS;
  while (time.pending > 0 && performance.now() < end) await setImmediate();
  assert.equal(time.pending, 0);
}
