import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { intervalLabel, intervalQuery, pickInterval } from './interval.ts';
import { durationMs, PRESETS } from './range.ts';

describe('the width of buckets', () => {
  it('gives a chart of every offered window 60 to 300 points', () => {
    for (const { text } of PRESETS) {
      const windowMs = durationMs(text) ?? 0;
      const points = windowMs / pickInterval(windowMs, 300).ms;
      assert.ok(points >= 60 && points <= 300, `${text}: ${points}`);
    }
  });

  it('never exceeds the buckets that the API accepts', () => {
    for (const days of [400, 1000, 3650])
      assert.ok((days * 86_400_000) / pickInterval(days * 86_400_000).ms <= 2500);
  });

  it('sends the zone with whole days only', () => {
    assert.deepEqual(intervalQuery(pickInterval(90 * 86_400_000, 100), 'Asia/Karachi'), {
      interval: '1d',
      time_zone: 'Asia/Karachi',
    });
    assert.deepEqual(intervalQuery(pickInterval(86_400_000, 300), 'Asia/Karachi'), { interval: '5m' });
    assert.equal(intervalLabel(pickInterval(86_400_000, 300)), '5 minutes');
    assert.equal(intervalLabel(pickInterval(90 * 86_400_000, 100)), '1 day');
  });
});
