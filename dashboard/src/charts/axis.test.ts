import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { timeLabels } from './axis.ts';

const now = new Date('2026-11-22T19:00:00Z');
const seconds = (text: string) => Date.parse(text) / 1000;

describe('the labels of a time axis', () => {
  it('are hours, and the day at midnight of the viewer', () => {
    const splits = [seconds('2026-11-22T16:00:00Z'), seconds('2026-11-22T19:00:00Z')];
    assert.deepEqual(timeLabels(splits, now, 'Asia/Karachi'), ['21:00', '23 Nov']);
  });

  it('are days where the steps are days', () => {
    const splits = [seconds('2026-11-21T00:00:00Z'), seconds('2026-11-22T00:00:00Z')];
    assert.deepEqual(timeLabels(splits, now, 'UTC'), ['21 Nov', '22 Nov']);
  });
});
