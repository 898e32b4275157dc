import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ago, bucketLabel, dateTime, dateTimeShort, day, utc } from './time.ts';

const at = new Date('2026-11-22T19:47:06Z');

describe('times', () => {
  it('are of the zone of the viewer, with UTC for the title', () => {
    assert.equal(dateTime(at, 'Asia/Karachi'), '23 Nov 2026, 00:47:06');
    assert.equal(dateTime(at, 'Asia/Kathmandu'), '23 Nov 2026, 01:32:06');
    assert.equal(dateTime(at, 'America/St_Johns'), '22 Nov 2026, 16:17:06');
    assert.equal(utc(at), '2026-11-22 19:47:06 UTC');
  });

  it('have a year where it is another', () => {
    assert.equal(dateTimeShort(at, at, 'UTC'), '22 Nov, 19:47');
    assert.equal(day(new Date('2025-12-31T23:00:00Z'), at, 'UTC'), '31 Dec 2025');
    assert.equal(
      day(new Date('2025-12-31T23:00:00Z'), new Date('2026-01-01T00:00:00Z'), 'Asia/Karachi'),
      '1 Jan',
    );
  });

  it('are relative in whole units', () => {
    assert.equal(ago(new Date(at.getTime() - 4000), at), 'just now');
    assert.equal(ago(new Date(at.getTime() - 119_000), at), '1 minute ago');
    assert.equal(ago(new Date(at.getTime() - 3 * 86_400_000), at), '3 days ago');
    assert.equal(ago(new Date(at.getTime() + 3 * 86_400_000), at), 'in 3 days');
  });

  it('name a bucket by its day or its hours, on days of 23 and 25 hours as well', () => {
    assert.equal(
      bucketLabel(new Date('2026-11-22T14:00:00Z'), 3_600_000, 'Asia/Karachi'),
      'Sun 22 Nov, 19:00–20:00',
    );
    assert.equal(
      bucketLabel(new Date('2026-03-29T00:00:00+01:00'), 86_400_000, 'Europe/Berlin'),
      'Sun 29 Mar',
    );
    assert.equal(
      bucketLabel(new Date('2026-10-25T00:00:00+02:00'), 86_400_000, 'Europe/Berlin'),
      'Sun 25 Oct',
    );
    assert.equal(
      bucketLabel(new Date('2026-11-16T00:00:00Z'), 604_800_000, 'UTC'),
      'Mon 16 Nov – Sun 22 Nov',
    );
  });
});
