import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { refreshDelayMs } from './session-clock.ts';

const MINUTE = 60_000;
const now = 1_800_000_000_000;

describe('when the session is renewed', () => {
  it('is well before the 15 minutes of an access cookie', () => {
    assert.equal(refreshDelayMs(now, now, 0), 11 * MINUTE);
    assert.ok(refreshDelayMs(now, now, 1) < 14 * MINUTE);
  });

  it('is now where it is due, and soon where nothing is known or the clock went back', () => {
    assert.equal(refreshDelayMs(now - 60 * MINUTE, now, 0), 0);
    assert.equal(refreshDelayMs(undefined, now, 0), 0);
    assert.equal(refreshDelayMs(now + MINUTE, now, 0), 0);
    assert.ok(refreshDelayMs(undefined, now, 1) > 0);
  });
});
