import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { zoneLabel, zoneOffsetMinutes } from './zone.ts';

describe('zones', () => {
  it('have offsets of quarters of an hour, which change over the year', () => {
    const winter = new Date('2026-01-15T12:00:00Z');
    const summer = new Date('2026-07-15T12:00:00Z');
    assert.equal(zoneOffsetMinutes('Asia/Karachi', winter), 300);
    assert.equal(zoneOffsetMinutes('Asia/Kathmandu', winter), 345);
    assert.equal(zoneOffsetMinutes('America/St_Johns', winter), -210);
    assert.equal(zoneOffsetMinutes('Europe/Berlin', winter), 60);
    assert.equal(zoneOffsetMinutes('Europe/Berlin', summer), 120);
  });

  it('are named by city and offset', () => {
    const at = new Date('2026-01-15T12:00:00Z');
    assert.equal(zoneLabel('Asia/Karachi', at), 'Karachi, UTC+05:00');
    assert.equal(zoneLabel('America/St_Johns', at), 'St Johns, UTC−03:30');
    assert.equal(zoneLabel('UTC', at), 'UTC');
  });
});
