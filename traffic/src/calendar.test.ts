import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeCalendar } from './calendar.ts';

const DAY_MICROS = 86_400_000_000;
const HOUR_MICROS = DAY_MICROS / 24;
// A Monday, 00:00 in Pakistan.
const MONDAY_MICROS = BigInt(Date.parse('2026-09-06T19:00:00Z')) * 1000n;

describe('makeCalendar', () => {
  const calendar = makeCalendar(MONDAY_MICROS, 28, 1);
  const between = (fromDay: number, fromHour: number, hours: number) => {
    const from = fromDay * DAY_MICROS + fromHour * HOUR_MICROS;
    return calendar.shareAt(from + hours * HOUR_MICROS) - calendar.shareAt(from);
  };

  it('counts from 0 to 1, and converts a share back to its time', () => {
    assert.equal(calendar.shareAt(0), 0);
    assert.equal(calendar.shareAt(28 * DAY_MICROS), 1);
    let last = 0;
    for (let n = 1; n <= 1000; n += 1) {
      const offset = calendar.offsetAt(n / 1000);
      assert.ok(offset > last);
      assert.ok(Math.abs(calendar.shareAt(offset) - n / 1000) < 1e-9);
      last = offset;
    }
  });

  it('is busy by day, quiet at night and on Sundays, and grows', () => {
    assert.ok(between(1, 10, 2) > 5 * between(1, 2, 2));
    assert.ok(between(2, 0, 24) > 2 * between(6, 0, 24));
    assert.ok(between(21, 0, 7 * 24) > 1.2 * between(0, 0, 7 * 24));
  });

  it('works for windows of a minute and of ten years', () => {
    for (const days of [1 / 1440, 0.4, 3650]) {
      const other = makeCalendar(MONDAY_MICROS, days, 1);
      assert.equal(other.offsetAt(0), 0);
      assert.ok(Math.abs(other.offsetAt(1) - days * DAY_MICROS) < 1);
    }
  });
});
