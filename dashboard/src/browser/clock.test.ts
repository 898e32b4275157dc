import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { noteServiceTime, now } from './clock.ts';

const DEVICE = Date.parse('2001-01-01T00:00:00Z');

describe('the time of the page', () => {
  it('is that of the service where the device is more than a minute off', (test) => {
    test.mock.timers.enable({ apis: ['Date'], now: DEVICE });
    assert.equal(now().getTime(), DEVICE);
    noteServiceTime('Thu, 26 Nov 2026 05:00:00 GMT');
    test.mock.timers.setTime(DEVICE + 90_000);
    assert.equal(now().toISOString(), '2026-11-26T05:01:30.000Z');
    // No time, or none that can be read, changes nothing.
    for (const header of [null, '', 'yesterday']) noteServiceTime(header);
    assert.equal(now().toISOString(), '2026-11-26T05:01:30.000Z');
  });

  it('is that of the device where the two agree, to the millisecond', (test) => {
    test.mock.timers.enable({ apis: ['Date'], now: DEVICE + 123 });
    for (const seconds of [-59, 0, 60]) {
      noteServiceTime(new Date(DEVICE + seconds * 1000).toUTCString());
      assert.equal(now().getTime(), DEVICE + 123);
    }
  });
});
