import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bucketWidthFromText } from '@gatehouse/contract';
import { bucketsOf } from './buckets.ts';
import { startOfDay, timestampInZone, timeZoneFromText } from './time-zone.ts';

const zoneOf = (name: string) => timeZoneFromText(name) ?? assert.fail(name);
const secondsOf = (text: string) => Date.parse(text) / 1000;
const dayOfDate = (date: string) => Date.parse(date) / 86_400_000;

describe('the start of a day in a time zone', () => {
  for (const [zone, date, expected, what] of [
    ['UTC', '2026-03-29', '2026-03-29T00:00:00+00:00', 'no offset'],
    ['+05:30', '2026-03-29', '2026-03-29T00:00:00+05:30', 'an offset'],
    ['Asia/Kathmandu', '2026-03-29', '2026-03-29T00:00:00+05:45', 'a quarter of an hour'],
    ['America/St_Johns', '2026-07-01', '2026-07-01T00:00:00-02:30', 'half an hour behind'],
    ['Pacific/Kiritimati', '1970-01-01', '1970-01-01T00:00:00-10:40', 'behind, before it moved ahead'],
    ['America/Santiago', '2026-09-06', '2026-09-06T01:00:00-03:00', 'no midnight'],
    ['Africa/Cairo', '2026-04-24', '2026-04-24T01:00:00+03:00', 'no midnight'],
    ['America/Santiago', '2026-04-05', '2026-04-05T00:00:00-04:00', 'the clocks go back at midnight'],
    ['America/Havana', '2026-11-01', '2026-11-01T00:00:00-04:00', 'midnight twice'],
    ['Australia/Lord_Howe', '2026-10-04', '2026-10-04T00:00:00+10:30', 'a change by half an hour'],
    ['Pacific/Apia', '2011-12-30', '2011-12-31T00:00:00+14:00', 'a day that was skipped'],
  ] as const) {
    it(`is right for ${what}: ${zone}`, () => {
      const start = startOfDay(zoneOf(zone), dayOfDate(date));
      assert.equal(timestampInZone(zoneOf(zone), start), expected);
      assert.equal(start, secondsOf(expected));
    });
  }

  it('is never before the day before it, in any zone, from 1970 on', () => {
    for (const name of [...Intl.supportedValuesOf('timeZone')].filter((_, nth) => nth % 9 === 0)) {
      const zone = zoneOf(name);
      let before = Number.NEGATIVE_INFINITY;
      for (let day = 0; day < 47_000; day += 1 + (day % 61 === 0 ? 0 : 30)) {
        const [start, next] = [startOfDay(zone, day), startOfDay(zone, day + 1)];
        assert.ok(start > before && next >= start && next - start <= 93_600, `${name} ${day}`);
        before = start;
      }
    }
  });

  it('is of no zone for a text that is none', () => {
    for (const text of [
      '',
      ' ',
      'x',
      'Z',
      '5',
      '+5:30',
      '+25:00',
      '+05:00 ',
      'Asia/Karachi\n',
      "UTC'",
      '../UTC',
      'UTC+5',
    ])
      assert.equal(timeZoneFromText(text), undefined, JSON.stringify(text));
  });
});

describe('buckets', () => {
  const interval = (text: string) => bucketWidthFromText(text) ?? assert.fail(text);
  const startsOf = (from: string, to: string, width: string, zone?: string) => {
    const window = {
      fromMicros: BigInt(secondsOf(from)) * 1_000_000n,
      toMicros: BigInt(secondsOf(to)) * 1_000_000n,
    };
    return bucketsOf(window, interval(width), zone).starts.map((start) =>
      new Date(start * 1000).toISOString(),
    );
  };

  it('include the first moment of the epoch in a zone that was ahead', () => {
    assert.deepEqual(startsOf('1970-01-01T00:00:00Z', '1970-01-01T20:00:00Z', '1d', 'Asia/Tokyo'), [
      '1969-12-31T15:00:00.000Z',
      '1970-01-01T15:00:00.000Z',
    ]);
  });

  it('leave out a day that the zone skipped', () => {
    assert.deepEqual(startsOf('2011-12-29T12:00:00Z', '2012-01-01T00:00:00Z', '1d', 'Pacific/Apia'), [
      '2011-12-29T10:00:00.000Z',
      '2011-12-30T10:00:00.000Z',
      '2011-12-31T10:00:00.000Z',
    ]);
  });

  it('of several days are counted from 1970-01-01 in every zone', () => {
    for (const zone of ['UTC', 'Asia/Karachi', 'America/New_York']) {
      const window = { fromMicros: 1_795_170_600_000_000n, toMicros: 1_795_870_600_000_000n };
      const { starts, zone: read } = bucketsOf(window, interval('7d'), zone);
      // 1970-01-01 was a Thursday.
      assert.deepEqual(
        starts.map((start) => timestampInZone(read, start).slice(0, 19)),
        ['2026-11-19T00:00:00', '2026-11-26T00:00:00'],
      );
    }
  });
});
