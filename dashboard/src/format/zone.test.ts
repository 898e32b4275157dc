import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { momentInZone, zoneLabel, zoneOffsetMinutes } from './zone.ts';

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

  it('turn what their clocks show into a moment, on the days on which these change too', () => {
    const moment = (text: string, zone: string) => momentInZone(text, zone)?.toISOString();
    assert.equal(moment('2026-12-01T09:30', 'UTC'), '2026-12-01T09:30:00.000Z');
    assert.equal(moment('2026-12-01T09:30:59', 'Asia/Karachi'), '2026-12-01T04:30:00.000Z');
    assert.equal(moment('2026-03-29T01:59', 'Europe/Berlin'), '2026-03-29T00:59:00.000Z');
    // Not shown by any clock there.
    assert.equal(moment('2026-03-29T02:30', 'Europe/Berlin'), '2026-03-29T01:30:00.000Z');
    assert.equal(moment('2026-03-29T03:00', 'Europe/Berlin'), '2026-03-29T01:00:00.000Z');
    // Shown twice.
    assert.equal(moment('2026-10-25T02:30', 'Europe/Berlin'), '2026-10-25T00:30:00.000Z');
    assert.equal(moment('2026-10-25T03:00', 'Europe/Berlin'), '2026-10-25T02:00:00.000Z');
    for (const text of ['', '2026-12-01', '2026-99-01T00:00', 'tomorrow'])
      assert.equal(moment(text, 'UTC'), undefined);
  });

  it('are named by city and offset', () => {
    const at = new Date('2026-01-15T12:00:00Z');
    assert.equal(zoneLabel('Asia/Karachi', at), 'Karachi, UTC+05:00');
    assert.equal(zoneLabel('America/St_Johns', at), 'St Johns, UTC−03:30');
    assert.equal(zoneLabel('UTC', at), 'UTC');
  });
});
