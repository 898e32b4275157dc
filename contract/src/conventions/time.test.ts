import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  durationFromText,
  epochMicrosFromTimestamp,
  MAX_EPOCH_SECONDS,
  MAX_TIME_RANGE,
  timestampWithOffset,
  timestampWithZ,
} from './time.ts';

describe('epochMicrosFromTimestamp', () => {
  // Each instant as control-plane records write it: one table shows the reading and the writing.
  const accepted: [text: string, instant: string][] = [
    ['2027-01-31T09:30:00+05:00', '2027-01-31T04:30:00.000000'],
    ['2027-01-31T04:30:00Z', '2027-01-31T04:30:00.000000'],
    ['2027-01-31t04:30:00z', '2027-01-31T04:30:00.000000'],
    ['1970-01-01T00:00:00Z', '1970-01-01T00:00:00.000000'],
    ['1969-12-31T23:59:59.999999Z', '1969-12-31T23:59:59.999999'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000000'],
    ['2000-02-29T23:59:59Z', '2000-02-29T23:59:59.000000'],
    ['2026-11-20T10:15:30.1Z', '2026-11-20T10:15:30.100000'],
    ['2026-11-20T10:15:30.123456+00:00', '2026-11-20T10:15:30.123456'],
    ['2026-11-20T10:15:30.1234567Z', '2026-11-20T10:15:30.123456'],
    ['2026-11-20T10:15:30.999999999999Z', '2026-11-20T10:15:30.999999'],
    ['2026-11-20T10:15:30.0000004-00:00', '2026-11-20T10:15:30.000000'],
    ['2026-11-20T00:00:00+23:59', '2026-11-19T00:01:00.000000'],
    ['2026-11-20T00:00:00-23:59', '2026-11-20T23:59:00.000000'],
    ['2026-12-31T23:30:00-01:00', '2027-01-01T00:30:00.000000'],
    ['2024-02-29T23:59:59.999999-00:01', '2024-03-01T00:00:59.999999'],
    // The two ends, written in this zone and from the far side of each.
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000000'],
    ['0000-12-31T23:00:00-01:00', '0001-01-01T00:00:00.000000'],
    ['0099-03-01T00:00:00Z', '0099-03-01T00:00:00.000000'],
    ['9999-12-31T23:59:59.999999Z', '9999-12-31T23:59:59.999999'],
    ['9999-12-31T23:59:59.999999+23:59', '9999-12-31T00:00:59.999999'],
  ];
  for (const [text, instant] of accepted) {
    it(`reads ${text} as ${instant} UTC`, () => {
      const micros = epochMicrosFromTimestamp(text);
      assert.ok(micros !== undefined);
      assert.equal(timestampWithOffset(micros), `${instant}+00:00`);
      assert.equal(timestampWithZ(micros), `${instant}Z`);
      assert.equal(epochMicrosFromTimestamp(timestampWithOffset(micros)), micros);
      assert.equal(epochMicrosFromTimestamp(timestampWithZ(micros)), micros);
    });
  }

  it('is the inverse of writing, on every day from 1 to 9999 in any order', () => {
    const days = 3_652_059;
    for (let n = 0; n < 20_000; n += 1) {
      // Steps of a prime; every other instant is on the day of the one before.
      const day = ((n >> 1) * 1_000_003) % days;
      const ms = day * 86_400_000 - 62_135_596_800_000 + ((n * 48_271) % 86_400_000);
      const expected = `${new Date(ms).toISOString().slice(0, -1)}${String(n % 1000).padStart(3, '0')}`;
      const micros = BigInt(ms) * 1000n + BigInt(n % 1000);
      assert.equal(timestampWithZ(micros), `${expected}Z`);
      assert.equal(epochMicrosFromTimestamp(`${expected}Z`), micros);
    }
  });

  it('counts microseconds since 1970', () => {
    assert.equal(epochMicrosFromTimestamp('1970-01-01T00:00:01.000002Z'), 1_000_002n);
    assert.equal(epochMicrosFromTimestamp('1969-12-31T23:59:59.999999Z'), -1n);
    assert.equal(epochMicrosFromTimestamp('9999-12-31T23:59:59Z'), BigInt(MAX_EPOCH_SECONDS) * 1_000_000n);
  });

  for (const text of [
    ...'2027-02-31T00:00:00Z 2027-02-29T00:00:00Z 1900-02-29T00:00:00Z 2100-02-29T00:00:00Z'.split(' '),
    ...'2027-04-31T00:00:00Z 2027-00-10T00:00:00Z 2027-13-10T00:00:00Z 2027-01-00T00:00:00Z'.split(' '),
    ...'2027-01-32T00:00:00Z 2026-12-31T23:59:60Z 2027-01-01T24:00:00Z 2027-01-01T00:60:00Z'.split(' '),
    ...'2027-01-01T00:00:00+24:00 2027-01-01T00:00:00+00:60 2027-01-01T00:00:00+5:00'.split(' '),
    ...'2027-01-01T00:00:00+0500 2027-01-01T00:00:00+05 2027-01-01T00:00:00'.split(' '),
    ...'2027-01-01T00:00:00.Z 2027-01-01T00:00:00,5Z 2027-01-01T00:00Z'.split(' '),
    '2027-01-01 00:00:00Z',
    ...'2027-01-01 2027-1-1T00:00:00Z 20270101T000000Z 2027-W01-1T00:00:00Z 2027 0'.split(' '),
    '',
    'Jan 1 2099',
    ...'tomorrow infinity 1795000000 +275760-09-13T00:00:00Z -000001-01-01T00:00:00Z'.split(' '),
    ...'12027-01-01T00:00:00Z 0000-12-31T23:59:59Z 0001-01-01T00:00:00+00:01'.split(' '),
    ...'9999-12-31T23:59:59.9-00:01 9999-12-31T23:59:60Z'.split(' '),
    ' 2027-01-01T00:00:00Z',
    '2027-01-01T00:00:00Z ',
    ...'2027-01-01T00:00:00Z\n 2027-01-01T00:00:00Z\u0000 2027-01-01T00:00:00Z+05:00'.split(' '),
    ...'\u0662\u0660\u0662\u0667-01-01T00:00:00Z 2027-01-01T00:00:00.\u0661Z'.split(' '),
    ...'\uff12\uff10\uff12\uff17-01-01T00:00:00Z 2027\u201301\u201301T00:00:00Z'.split(' '),
  ]) {
    it(`refuses ${JSON.stringify(text)}`, () => assert.equal(epochMicrosFromTimestamp(text), undefined));
  }

  it('agrees with the calendar on every day from 1896 to 2104, on four centuries of leap days and no others', () => {
    let day = Date.UTC(1896, 0, 1);
    for (let year = 1896; year <= 2104; year += 1) {
      for (let month = 1; month <= 12; month += 1) {
        for (let date = 1; date <= 31; date += 1) {
          const text = `${year}-${two(month)}-${two(date)}T00:00:00Z`;
          const isReal = new Date(day).toISOString().startsWith(text.slice(0, 10));
          assert.equal(epochMicrosFromTimestamp(text), isReal ? BigInt(day) * 1_000n : undefined, text);
          if (isReal) day += 86_400_000;
        }
      }
    }
  });
});

describe('writing instants', () => {
  it('refuses what lies outside the years 1 to 9999', () => {
    const first = -62_135_596_800_000_000n;
    const last = 253_402_300_799_999_999n;
    assert.equal(timestampWithZ(first), '0001-01-01T00:00:00.000000Z');
    assert.equal(timestampWithZ(last), '9999-12-31T23:59:59.999999Z');
    for (const outside of [first - 1n, last + 1n, 2n ** 63n, -(2n ** 63n)]) {
      assert.throws(() => timestampWithOffset(outside), RangeError);
      assert.throws(() => timestampWithZ(outside), RangeError);
    }
  });
});

describe('durationFromText', () => {
  for (const [text, seconds] of [
    ['1s', 1],
    ['30s', 30],
    ['5m', 300],
    ['24h', 86_400],
    ['1d', 86_400],
    ['007d', 604_800],
    ['3650d', 315_360_000],
    ['87600h', 315_360_000],
    ['315360000s', 315_360_000],
    ['999999999999s', 315_360_000],
    ['999999999999d', 315_360_000],
  ] satisfies [string, number][]) {
    it(`reads ${text} as ${seconds} s`, () => assert.equal(durationFromText(text)?.seconds, seconds));
  }

  it('keeps the text as it was given, unless it was cut', () => {
    assert.deepEqual(durationFromText('87600h'), { text: '87600h', seconds: 315_360_000 });
    assert.deepEqual(durationFromText('87601h'), MAX_TIME_RANGE);
    assert.deepEqual(durationFromText('999999999999d'), { text: '3650d', seconds: 315_360_000 });
  });

  for (const text of [
    ...'0s 000000d -1h +5m 1.5h 1e3s \u0663h 24H 24h\n'.split(' '),
    '24h ',
    ' 24h',
    '24 h',
    '1d2h',
    '24',
    'h',
    '',
    ...'1w 1ms 1\u0455 1000000000000s 0x1h 24h\u0000'.split(' '),
  ]) {
    it(`refuses ${JSON.stringify(text)}`, () => assert.equal(durationFromText(text), undefined));
  }
});

function two(value: number): string {
  return String(value).padStart(2, '0');
}
